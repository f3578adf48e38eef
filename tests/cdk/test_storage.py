"""File systems and buckets, as CloudFormation will get them."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.model import template
from tests.templates import of_type, synthesized

LUSTRE = "AWS::FSx::FileSystem"


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def file_system(stack: cdk.Stack, network: hp.Network, **lustre: Any) -> dict[str, Any]:
    value = hp.Lustre(**{"capacity_gib": 4800, "throughput_mbps_per_tib": 500, **lustre})
    hp.LustreFileSystem(stack, "Scratch", network=network, lustre=value)
    (found,) = of_type(synthesized(stack), LUSTRE).values()
    return found


class TestLustre:
    def test_is_kept_on_delete_and_replace_but_not_after_a_failed_first_create(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        file_system(stack, network)
        (resource,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == LUSTRE)
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")

    def test_refuses_a_version_that_was_written_as_a_number(self, stack: cdk.Stack, network: hp.Network) -> None:
        with pytest.raises(hp.InvalidValue, match=r"Scratch: lustre\.version is 2\.15, a float; use text or None"):
            file_system(stack, network, version=2.15)

    def test_waits_for_both_rules_of_its_security_group(self, stack: cdk.Stack, network: hp.Network) -> None:
        """Field report B-04: FSx looks for its ports when it is created."""
        file_system(stack, network)
        resources = synthesized(stack)["Resources"]
        (resource,) = (each for each in resources.values() if each["Type"] == LUSTRE)
        assert {resources[name]["Type"] for name in resource["DependsOn"]} == {
            "AWS::EC2::SecurityGroupEgress",
            "AWS::EC2::SecurityGroupIngress",
        }

    def test_states_version_and_type_because_the_services_defaults_differ(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        found = file_system(stack, network)
        assert found["FileSystemTypeVersion"] == "2.15"
        assert found["LustreConfiguration"]["DeploymentType"] == "PERSISTENT_2"

    def test_is_refused_in_the_constructor_with_every_error(self, stack: cdk.Stack, network: hp.Network) -> None:
        wrong = hp.Lustre(capacity_gib=1300, throughput_mbps_per_tib=251)
        with pytest.raises(hp.InvalidCluster) as refused:
            hp.LustreFileSystem(stack, "Scratch", network=network, lustre=wrong)
        assert {finding.rule for finding in refused.value.findings} == {"HP3001", "HP3002"}
        assert stack.node.try_find_child("Scratch") is None

    def test_an_imported_one_is_named_as_dns_does(self) -> None:
        with pytest.raises(hp.InvalidValue, match="use the file system's DNS name alone"):
            hp.LustreFileSystem.from_attributes(dns_name="fs-0123456789abcdef0", mount_name="abcdefgh")

    @pytest.mark.parametrize("mount_name", ["", "muchtoolongname"])
    def test_an_imported_one_has_a_mount_name_of_lustre(self, mount_name: str) -> None:
        name = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
        with pytest.raises(hp.InvalidValue, match="as describe-file-systems prints it"):
            hp.LustreFileSystem.from_attributes(dns_name=name, mount_name=mount_name)

    def test_has_exactly_one_subnet(self, stack: cdk.Stack, network: hp.Network) -> None:
        assert len(file_system(stack, network)["SubnetIds"]) == 1

    @pytest.mark.parametrize(
        ("iops", "metadata"),
        [
            ("AUTOMATIC", {"Mode": "AUTOMATIC"}),
            (12_000, {"Mode": "USER_PROVISIONED", "Iops": 12_000}),
        ],
    )
    def test_metadata_configuration(
        self, stack: cdk.Stack, network: hp.Network, iops: object, metadata: dict[str, object]
    ) -> None:
        assert (
            file_system(stack, network, metadata_iops=iops)["LustreConfiguration"]["MetadataConfiguration"] == metadata
        )

    def test_intelligent_tiering_has_throughput_and_cache_instead_of_capacity(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        found = file_system(
            stack,
            network,
            storage_type="INTELLIGENT_TIERING",
            capacity_gib=None,
            throughput_mbps_per_tib=None,
            throughput_mbps=4000,
            metadata_iops=6000,
        )
        assert "StorageCapacity" not in found
        assert found["LustreConfiguration"]["ThroughputCapacity"] == 4000
        assert found["LustreConfiguration"]["DataReadCacheConfiguration"] == {
            "SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"
        }

    @pytest.mark.parametrize(
        ("cache", "written"),
        [
            ({"read_cache": "NO_CACHE"}, {"SizingMode": "NO_CACHE"}),
            ({"read_cache_gib": 64}, {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64}),
        ],
    )
    def test_intelligent_tiering_says_how_it_caches(
        self, stack: cdk.Stack, network: hp.Network, cache: dict[str, Any], written: dict[str, Any]
    ) -> None:
        tiering = {"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000, "metadata_iops": 6000}
        bought = {"capacity_gib": None, "throughput_mbps_per_tib": None, **tiering, **cache}
        found = file_system(stack, network, **bought)
        assert found["LustreConfiguration"]["DataReadCacheConfiguration"] == written

    def test_the_mount_name_is_read_from_the_file_system(self, stack: cdk.Stack, network: hp.Network) -> None:
        """Field report C-12: it is random, and `fsx` only for SCRATCH_1."""
        made = hp.LustreFileSystem(
            stack, "Scratch", network=network, lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)
        )
        assert stack.resolve(made.target.mount_name)["Fn::GetAtt"][1] == "LustreMountName"


class TestTheNetworkUnderAFileSystem:
    KEPT = ("RetainExceptOnCreate", "Retain")

    def test_is_kept_with_it_because_ec2_deletes_nothing_that_is_in_use(self, stack: cdk.Stack) -> None:
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az1", "usw2-az2"])
        hp.LustreFileSystem(
            stack,
            "Scratch",
            network=network,
            zone="usw2-az2",
            lustre=hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=1000),
        )
        resources = synthesized(stack)["Resources"].items()
        kept = {
            name
            for name, resource in resources
            if (resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy")) == self.KEPT
        }
        assert sorted(name[:-8] for name in kept) == [
            "NetworkFabric",
            "NetworkFabricEgress",
            "NetworkFabricIngress",
            "NetworkNodesusw2az2",
            "NetworkVpc",
            "Scratch",
        ]

    def test_goes_with_the_stack_where_no_file_system_stands_in_it(self, stack: cdk.Stack) -> None:
        hp.ClusterNetwork(stack, "Network", zones=["usw2-az1"])
        resources = synthesized(stack)["Resources"].values()
        assert [resource for resource in resources if "Retain" in resource.get("DeletionPolicy", "")] == []


class TestEfaInAClosedNetwork:
    def services(self, stack: cdk.Stack, efa: bool, **network: Any) -> set[str]:
        made = hp.ClusterNetwork(stack, "Network", **{"zones": ["usw2-az2"], "egress": "closed", **network})
        bought = hp.Lustre(capacity_gib=19200, throughput_mbps_per_tib=250, efa=efa, metadata_iops="AUTOMATIC")
        for name in ("Scratch", "Other"):
            hp.LustreFileSystem(stack, name, network=made, lustre=bought)
        endpoints = of_type(synthesized(stack), "AWS::EC2::VPCEndpoint").values()
        return {each["ServiceName"].rpartition(".")[2] for each in endpoints}

    def test_nodes_reach_fsx_which_they_ask_for_it(self, stack: cdk.Stack) -> None:
        assert "fsx" in self.services(stack, efa=True)

    def test_without_it_no_endpoint_is_paid(self, stack: cdk.Stack) -> None:
        assert "fsx" not in self.services(stack, efa=False)

    @pytest.mark.parametrize("network", [{"endpoints": ["ssm"]}, {"egress": "nat"}])
    def test_who_chose_the_endpoints_gets_no_other(self, stack: cdk.Stack, network: dict[str, Any]) -> None:
        assert "fsx" not in self.services(stack, efa=True, **network)


class TestDataRepositories:
    def test_the_folder_is_known_because_logical_ids_are_made_of_it(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        folder = cdk.CfnParameter(stack, "Folder").value_as_string
        link = hp.DataRepository(folder=folder, s3_uri="s3://datasets-111122223333/imagenet/")
        with pytest.raises(hp.InvalidValue, match="folder of a repository is a token"):
            hp.LustreFileSystem(
                stack,
                "Scratch",
                network=network,
                lustre=hp.Lustre(capacity_gib=4800, throughput_mbps_per_tib=500),
                repositories=[link],
            )

    def test_are_made_one_after_the_other(self, stack: cdk.Stack, network: hp.Network) -> None:
        hp.LustreFileSystem(
            stack,
            "Scratch",
            network=network,
            lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125),
            repositories=[
                hp.DataRepository(folder="/datasets", s3_uri="s3://datasets/"),
                hp.DataRepository(folder="/results", s3_uri="s3://results/", imports=(), exports=("NEW", "CHANGED")),
            ],
        )
        resources = synthesized(stack)["Resources"]
        found = {n: r for n, r in resources.items() if r["Type"] == "AWS::FSx::DataRepositoryAssociation"}
        first, second = found
        assert "DependsOn" not in found[first]
        assert found[second]["DependsOn"] == [first]
        assert found[second]["Properties"]["S3"] == {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}

    def test_to_a_bucket_of_another_region_are_told(self, app: cdk.App, stack: cdk.Stack, network: hp.Network) -> None:
        elsewhere = cdk.Stack(app, "Elsewhere", env=cdk.Environment(account="111122223333", region="us-east-1"))
        s3.Bucket(elsewhere, "Data", bucket_name="our-datasets")
        hp.LustreFileSystem(
            stack,
            "Scratch",
            network=network,
            lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125),
            repositories=[hp.DataRepository(folder="/data", s3_uri="s3://our-datasets/")],
        )
        synthesized(stack)
        found = [each for each in rules.check(template.read(app.outdir)) if each.rule == "HP3035"]
        assert [each.message for each in found] == ["s3://our-datasets/ is in us-east-1, the file system in us-west-2"]

    @pytest.mark.parametrize(("linked", "copies"), [(True, None), (False, True)])
    def test_go_without_tags_on_backups(
        self, stack: cdk.Stack, network: hp.Network, *, linked: bool, copies: bool | None
    ) -> None:
        hp.LustreFileSystem(
            stack,
            "Scratch",
            network=network,
            lustre=hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125, backup_days=7),
            repositories=[hp.DataRepository(folder="/datasets", s3_uri="s3://datasets/")] if linked else [],
        )
        (found,) = of_type(synthesized(stack), LUSTRE).values()
        assert found["LustreConfiguration"].get("CopyTagsToBackups") is copies


class TestCheckpointBucket:
    def test_is_versioned_private_and_kept(self, stack: cdk.Stack) -> None:
        hp.CheckpointBucket(stack, "Checkpoints")
        (resource,) = (each for each in synthesized(stack)["Resources"].values() if each["Type"] == "AWS::S3::Bucket")
        properties = resource["Properties"]
        assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
        assert all(properties["PublicAccessBlockConfiguration"].values())
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")

    def test_says_that_it_holds_data_so_that_nobody_deletes_it_unwarned(self, stack: cdk.Stack) -> None:
        bucket = hp.CheckpointBucket(stack, "Checkpoints")
        bucket.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        synthesized(stack)
        stage = cdk.Stage.of(stack)
        assert stage is not None
        (found,) = rules.RULES["HP3057"].findings(template.read(stage.outdir))
        assert found.path == "Test/Checkpoints"

    @pytest.mark.parametrize("days", [0, -1, 36_501, 1.5])
    def test_keeps_old_versions_for_a_day_at_least(self, stack: cdk.Stack, days: Any) -> None:
        with pytest.raises(hp.InvalidValue, match="old_versions_days"):
            hp.CheckpointBucket(stack, "Checkpoints", old_versions_days=days)
        assert stack.node.try_find_child("Checkpoints") is None

    def test_refuses_plain_http(self, stack: cdk.Stack) -> None:
        hp.CheckpointBucket(stack, "Checkpoints")
        (policy,) = of_type(synthesized(stack), "AWS::S3::BucketPolicy").values()
        (denied,) = policy["PolicyDocument"]["Statement"]
        assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
