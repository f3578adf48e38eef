"""Field reports on lifecycle scripts, their bucket, roles and keys (section D)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs import rules
from hyperpod_constructs.findings import Finding
from hyperpod_constructs.model import template
from tests.field_reports.settled import checked, ids, settled
from tests.templates import of_type, synthesized

if TYPE_CHECKING:
    import aws_cdk as cdk

NOT_SEEN = Path(__file__).parents[2] / "docs" / "what-no-check-can-see.md"
NODE_POLICY = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
NETWORK = {"Effect": "Allow", "Action": ["ec2:*NetworkInterface*", "ec2:Describe*", "ec2:CreateTags"], "Resource": "*"}
NOTHING: list[str] = []


def role(*statements: dict[str, Any], service: str = "sagemaker.amazonaws.com", **properties: Any) -> dict[str, Any]:
    """A role of nodes with what they need in a VPC, and more statements."""
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
    }
    policy = {"PolicyName": "nodes", "PolicyDocument": {"Statement": [NETWORK, *statements]}}
    basics = {
        "AssumeRolePolicyDocument": {"Statement": [trust]},
        "ManagedPolicyArns": [NODE_POLICY],
        "Policies": [policy],
    }
    return {"Type": "AWS::IAM::Role", "Properties": {**basics, **properties}}


def allowed(action: str, resource: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource}


def cluster(uri: Any = None, *, script: str = "a.sh", depends_on: Any = (), **group: Any) -> dict[str, Any]:
    """A Slurm cluster of one controller with the role `Role`."""
    controller = {
        "InstanceGroupName": "controller",
        "InstanceType": "ml.m5.4xlarge",
        "InstanceCount": 1,
        "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
        "SlurmConfig": {"NodeType": "Controller"},
        **({"LifeCycleConfig": {"SourceS3Uri": uri, "OnInitComplete": script}} if uri else {}),
        **group,
    }
    properties = {
        "ClusterName": "train",
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "InstanceGroups": [controller],
    }
    return {"Type": "AWS::SageMaker::Cluster", "DependsOn": list(depends_on), "Properties": properties}


def of(**resources: Any) -> list[Finding]:
    """What a check finds in a template of these resources, with a good role unless one is given."""
    return checked(json.dumps({"Resources": {"Role": role(), **resources}}))


def told(rule: str, **resources: Any) -> list[str]:
    return [finding.message for finding in of(**resources) if finding.rule == rule]


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def construct(stack: cdk.Stack, network: hp.Network, **options: Any) -> hp.Cluster:
    groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
    return hp.Cluster(stack, "Cluster", **{"name": "train", "network": network, "groups": groups, **options})


def statements(written: dict[str, Any]) -> list[dict[str, Any]]:
    """Every statement of every policy of a template."""
    policies = of_type(written, "AWS::IAM::Policy").values()
    return [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]


def groups_of(written: dict[str, Any]) -> list[dict[str, Any]]:
    (properties,) = of_type(written, "AWS::SageMaker::Cluster").values()
    groups: list[dict[str, Any]] = properties["InstanceGroups"]
    return groups


def in_assembly(stack: cdk.Stack) -> list[Finding]:
    """What a check finds in the synthesized app."""
    import aws_cdk as cdk

    synthesized(stack)
    stage = cdk.Stage.of(stack)
    assert stage is not None
    return rules.check(template.read(stage.outdir))


def script(folder: Path, text: str = "echo\n", name: str = "on_init_complete.sh") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


class TestD01:
    @settled("template")
    def test_field_report_D_01_nodes_can_read_a_bucket_of_any_name(self, stack: cdk.Stack, network: hp.Network) -> None:
        construct(stack, network, lifecycle=hp.LifecycleScripts.existing("s3://my-hpc-bucket/lcs", on_create="a.sh"))
        found = [each for each in statements(synthesized(stack)) if "s3:" in str(each["Action"])]
        assert [(each["Action"], each["Resource"]["Fn::Join"][1][-1]) for each in found] == [
            ("s3:GetObject", ":s3:::my-hpc-bucket/lcs/*"),
            ("s3:ListBucket", ":s3:::my-hpc-bucket"),
        ]

    @settled("synth")
    def test_field_report_D_01_a_template_without_the_grant_is_refused(self) -> None:
        (said,) = told("HP5009", Cluster=cluster("s3://my-hpc-bucket/lcs/"))
        assert "lacks s3:GetObject on my-hpc-bucket/lcs/* and s3:ListBucket on my-hpc-bucket" in said

    @settled("synth")
    def test_field_report_D_01_nor_is_one_with_a_bucket_that_has_no_name(self) -> None:
        made = {"Scripts": {"Type": "AWS::S3::Bucket"}}
        uri = {"Fn::Sub": "s3://${Scripts}/lcs"}
        assert "HP5010" in ids(of(Cluster=cluster(uri), **made))
        reading = role(
            allowed("s3:GetObject", {"Fn::Sub": "${Scripts.Arn}/*"}), allowed("s3:List*", {"Fn::GetAtt": "Scripts.Arn"})
        )
        assert {"HP5009", "HP5010"}.isdisjoint(ids(of(Cluster=cluster(uri), Role=reading, **made)))

    @settled("synth")
    def test_field_report_D_01_the_prefix_or_a_grant_is_enough(self) -> None:
        assert ids(of(Cluster=cluster("s3://sagemaker-lcs/train"))) == NOTHING
        both = role(
            allowed("s3:Get*", "arn:aws:s3:::my-hpc-bucket/*"), allowed("s3:List*", "arn:aws:s3:::my-hpc-bucket")
        )
        assert ids(of(Cluster=cluster("s3://my-hpc-bucket/lcs"), Role=both)) == NOTHING


class TestD02:
    @pytest.mark.parametrize(
        ("resource", "says"),
        [
            ("arn:aws:s3:::my-hpc-bucket", "it has s3:GetObject on the bucket itself, which opens no object"),
            ("arn:aws:s3:::my-hpc-bucket/*", "it has s3:ListBucket on the objects, which lists no bucket"),
        ],
    )
    @settled("synth")
    def test_field_report_D_02_each_action_is_on_its_kind_of_resource(self, resource: str, says: str) -> None:
        half = role({"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": resource})
        (said,) = told("HP5009", Cluster=cluster("s3://my-hpc-bucket/lcs"), Role=half)
        assert says in said


def upload(**properties: Any) -> dict[str, Any]:
    """A bucket deployment of the CDK into `Scripts`."""
    basics = {
        "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:copy",
        "DestinationBucketName": {"Ref": "Scripts"},
        "DestinationBucketKeyPrefix": "lcs",
        "SourceBucketNames": ["assets"],
        "SourceObjectKeys": ["0123.zip"],
    }
    return {"Type": "Custom::CDKBucketDeployment", "Properties": {**basics, **properties}}


KEPT: dict[str, Any] = {
    "Type": "AWS::S3::Bucket",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {"BucketName": "sagemaker-lcs-train"},
}
URI = {"Fn::Sub": "s3://${Scripts}/lcs"}


class TestD04:
    @settled("template")
    def test_field_report_D_04_scripts_are_uploaded_before_the_stack_and_an_edit_moves_them(
        self, stack: cdk.Stack, network: hp.Network, tmp_path: Path
    ) -> None:
        first = hp.LifecycleScripts.extended(script(tmp_path / "a", "echo 1\n"))
        second = hp.LifecycleScripts.extended(script(tmp_path / "b", "echo 2\n"))
        construct(stack, network, lifecycle={"controller": first, "cpu": second})
        written = synthesized(stack)
        uris = [json.dumps(group["LifeCycleConfig"]["SourceS3Uri"]) for group in groups_of(written)]
        assert len(set(uris)) == 2
        assert not {"Custom::CDKBucketDeployment", "AWS::Lambda::Function", "AWS::S3::Bucket"} & {
            each["Type"] for each in written["Resources"].values()
        }

    @settled("synth")
    def test_field_report_D_04_the_cluster_waits_for_a_bucket_deployment(self) -> None:
        late = of(Cluster=cluster(URI), Scripts=KEPT, Upload=upload())
        assert ids(late) == ["HP5017"]
        assert ids(of(Cluster=cluster(URI, depends_on=["Upload"]), Scripts=KEPT, Upload=upload())) == NOTHING

    @settled("synth")
    def test_field_report_D_04_two_bucket_deployments_keep_out_of_each_others_way(self) -> None:
        both = {"Cluster": cluster(URI, depends_on=["Upload", "More"]), "Scripts": KEPT, "Upload": upload()}
        assert ids(of(**both, More=upload())) == ["HP5018"]
        assert ids(of(**both, More=upload(DestinationBucketKeyPrefix="lcs/more"))) == ["HP5018"]
        assert ids(of(**both, More=upload(DestinationBucketKeyPrefix="more"))) == NOTHING


class TestD05:
    @settled("synth")
    def test_field_report_D_05_an_address_begins_with_its_scheme(self) -> None:
        with pytest.raises(hp.InvalidValue, match="use s3://BUCKET/PREFIX"):
            hp.LifecycleScripts.existing("sagemaker-x/lcs", on_create="a.sh")
        assert ids(of(Cluster=cluster("sagemaker-x/lcs"))) == ["HP5003"]

    @settled("synth")
    def test_field_report_D_05_folders_have_names(self) -> None:
        (found,) = of(Cluster=cluster("s3://sagemaker-x//lcs/"))
        assert (found.rule, found.fix) == ("HP5011", "use s3://sagemaker-x/lcs/")

    @pytest.mark.parametrize("name", ["/on_create.sh", "s3://sagemaker-x/lcs/a.sh"])
    @settled("synth")
    def test_field_report_D_05_scripts_are_named_below_the_source(self, name: str) -> None:
        assert ids(of(Cluster=cluster("s3://sagemaker-x/lcs", script=name))) == ["HP5004"]

    @pytest.mark.parametrize("uri", ["s3://sagemaker-x", "s3://sagemaker-x/", "s3://sagemaker-x/lcs/"])
    @settled("synth")
    def test_field_report_D_05_a_bucket_alone_and_a_last_slash_are_legal(self, uri: str) -> None:
        assert ids(of(Cluster=cluster(uri))) == NOTHING


class TestD06:
    def scripts(self, folder: Path, text: str) -> hp.LifecycleScripts:
        return hp.LifecycleScripts.extended(script(folder / "lcs", text))

    @pytest.mark.parametrize("line", ["pip install torch\n", "git clone https://github.com/a/b\n"])
    @settled("synth")
    def test_field_report_D_06_scripts_of_a_closed_network_load_nothing_from_outside(
        self, stack: cdk.Stack, network: hp.Network, tmp_path: Path, line: str
    ) -> None:
        construct(stack, network, lifecycle=self.scripts(tmp_path, line))
        found = [finding for finding in in_assembly(stack) if finding.rule == "HP5022"]
        assert [finding.path for finding in found] == ["Test/Cluster"]
        assert "groups 'controller' and 'cpu'" in found[0].message
        assert "on_init_complete.sh line 1: " in found[0].message

    @settled("synth")
    def test_field_report_D_06_what_they_bring_along_is_fine(
        self, stack: cdk.Stack, network: hp.Network, tmp_path: Path
    ) -> None:
        construct(stack, network, lifecycle=self.scripts(tmp_path, "pip install --no-index -f wheels torch\n"))
        assert "HP5022" not in ids(in_assembly(stack))

    @settled("synth")
    def test_field_report_D_06_so_is_a_network_with_a_way_out(self, stack: cdk.Stack, tmp_path: Path) -> None:
        out = hp.ClusterNetwork(stack, "Open", zones=["usw2-az2"], flow_logs=False)
        construct(stack, out, lifecycle=self.scripts(tmp_path, "pip install torch\n"))
        assert "HP5022" not in ids(in_assembly(stack))


class TestD08:
    def found(self, folder: Path, parameters: str) -> list[str]:
        """What is found where a bucket deployment copies these parameters."""
        asset = folder / "asset.0123"
        asset.mkdir()
        script(asset, name="on_create.sh")
        (asset / "provisioning_parameters.json").write_text(parameters)
        old = cluster()
        groups = old["Properties"]["InstanceGroups"]
        groups[0] = {key: value for key, value in groups[0].items() if key != "SlurmConfig"}
        groups[0]["LifeCycleConfig"] = {"SourceS3Uri": URI, "OnCreate": "on_create.sh"}
        for key in ("Orchestrator", "NodeProvisioningMode"):
            del old["Properties"][key]
        old["DependsOn"] = ["Upload"]
        resources = {"Role": role(), "Cluster": old, "Scripts": KEPT, "Upload": upload()}
        (folder / "t.json").write_text(json.dumps({"Resources": resources}))
        return [each.message for each in rules.check(template.read(folder / "t.json")) if each.rule == "HP5013"]

    @settled("synth")
    def test_field_report_D_08_the_controller_group_is_one_of_the_cluster(self, tmp_path: Path) -> None:
        (said,) = self.found(tmp_path, '{"controller_group": "controller-machine", "worker_groups": []}')
        assert said == (
            "provisioning_parameters.json has controller_group 'controller-machine', which is no group of the cluster"
        )

    @settled("synth")
    def test_field_report_D_08_so_are_those_of_workers(self, tmp_path: Path) -> None:
        workers = '[{"instance_group_name": "worker-group-1", "partition_name": "dev"}]'
        (said,) = self.found(tmp_path, f'{{"controller_group": "controller", "worker_groups": {workers}}}')
        assert "worker_groups 'worker-group-1'" in said

    @settled("synth")
    def test_field_report_D_08_the_right_names_are_fine(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, '{"controller_group": "controller", "worker_groups": []}') == NOTHING


def eks(**group: Any) -> dict[str, Any]:
    """The same cluster on EKS."""
    found = cluster("s3://sagemaker-lcs/eks", **group)
    del found["Properties"]["InstanceGroups"][0]["SlurmConfig"]
    found["Properties"]["Orchestrator"] = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/e"}}
    found["Properties"]["VpcConfig"] = {
        "SecurityGroupIds": ["sg-0123456789abcdef0"],
        "Subnets": ["subnet-0123456789abcdef0"],
    }
    return found


class TestD09:
    @settled("synth")
    def test_field_report_D_09_roles_of_eks_nodes_have_no_path(self) -> None:
        assert "HP7005" in ids(of(Cluster=eks(), Role=role(Path="/hyperpod/")))
        assert "HP7010" in ids(of(Cluster=eks(ExecutionRole="arn:aws:iam::111122223333:role/hyperpod/nodes")))

    @settled("synth")
    def test_field_report_D_09_without_one_and_on_slurm_they_may(self) -> None:
        assert {"HP7005", "HP7010"}.isdisjoint(ids(of(Cluster=eks())))
        assert ids(of(Cluster=cluster(), Role=role(Path="/hyperpod/"))) == NOTHING

    @settled("template")
    def test_field_report_D_09_ours_have_none(self, stack: cdk.Stack, network: hp.Network) -> None:
        construct(stack, network)
        roles = of_type(synthesized(stack), "AWS::IAM::Role")
        assert len(roles) == 2
        assert not any("Path" in each for each in roles.values())


class TestD10:
    @pytest.mark.parametrize("service", ["ec2.amazonaws.com", "eks.amazonaws.com"])
    @settled("synth")
    def test_field_report_D_10_sagemaker_takes_the_role(self, service: str) -> None:
        assert ids(of(Cluster=cluster(), Role=role(service=service))) == ["HP7001"]

    @settled("synth")
    def test_field_report_D_10_for_its_own_account_only(self) -> None:
        trust = {
            "Statement": {
                "Effect": "Allow",
                "Principal": {"Service": "sagemaker.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        }
        assert ids(of(Cluster=cluster(), Role=role(AssumeRolePolicyDocument=trust))) == ["HP7002"]
        assert ids(of(Cluster=cluster())) == NOTHING

    @settled("template")
    def test_field_report_D_10_ours_ask_for_the_account(self, stack: cdk.Stack, network: hp.Network) -> None:
        construct(stack, network)
        for each in of_type(synthesized(stack), "AWS::IAM::Role").values():
            (trust,) = each["AssumeRolePolicyDocument"]["Statement"]
            assert trust["Principal"] == {"Service": "sagemaker.amazonaws.com"}
            assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}

    @settled("docs")
    def test_field_report_D_10_a_role_of_others_has_to_be_looked_at(self) -> None:
        assert "aws iam get-role" in said_of("D-10")


def said_of(report: str) -> str:
    """The line on a report in the page of what no check can see."""
    lines = NOT_SEEN.read_text().replace("\n  ", " ").splitlines()
    (line,) = (each for each in lines if each.endswith(f"[{report}]"))
    return line


@settled("template")
def test_field_report_D_12_nothing_but_the_cluster_has_a_fixed_name(
    stack: cdk.Stack, network: hp.Network, tmp_path: Path
) -> None:
    construct(stack, network, lifecycle=hp.LifecycleScripts.extended(script(tmp_path / "lcs")))
    fixed = {"RoleName", "FunctionName", "PolicyName", "BucketName", "GroupName", "ManagedPolicyName"}
    named = {
        (each["Type"], name)
        for each in synthesized(stack)["Resources"].values()
        for name in fixed & each.get("Properties", {}).keys()
    }
    # The name of an inline policy is one within its role.
    assert named == {("AWS::IAM::Policy", "PolicyName")}


class TestD13:
    @pytest.mark.parametrize("name", ["my_hp", "my-hp-", "my hp", "-hp", "x" * 64])
    @settled("synth")
    def test_field_report_D_13_a_name_fits_the_pattern(self, stack: cdk.Stack, network: hp.Network, name: str) -> None:
        with pytest.raises(hp.InvalidValue, match="cluster name"):
            construct(stack, network, name=name)
        written = cluster()
        written["Properties"]["ClusterName"] = name
        assert ids(of(Cluster=written)) == ["HP1001"]

    @pytest.mark.parametrize("name", ["my-hp", "my-hp-my-hp", "x" * 63, {"Ref": "AWS::StackName"}])
    @settled("synth")
    def test_field_report_D_13_legal_and_unknown_names_pass(self, name: Any) -> None:
        written = cluster()
        written["Properties"]["ClusterName"] = name
        assert ids(of(Cluster=written)) == NOTHING

    @settled("template")
    def test_field_report_D_13_a_name_is_used_word_for_word(self, stack: cdk.Stack, network: hp.Network) -> None:
        construct(stack, network, name="my-hp-my-hp")
        (properties,) = of_type(synthesized(stack), "AWS::SageMaker::Cluster").values()
        assert properties["ClusterName"] == "my-hp-my-hp"


VOLUME: dict[str, Any] = {
    "InstanceStorageConfigs": [
        {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]}}}
    ]
}
GRANTS = allowed("kms:*", {"Fn::GetAtt": ["Key", "Arn"]})


def key(principal: str, action: str = "kms:*", **others: Any) -> dict[str, Any]:
    statement = {**allowed(action, "*"), "Principal": {"AWS": principal}, **others}
    return {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": [statement]}}}


ROOT = "arn:aws:iam::111122223333:root"


class TestD14:
    @settled("template")
    def test_field_report_D_14_nodes_may_use_the_key_of_their_volumes(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        from aws_cdk import aws_kms as kms

        made = kms.Key(stack, "Key")
        volumes = (hp.NodeVolume(size_gib=500, kms_key=made.key_arn),)
        head = hp.InstanceGroup.controller("ml.m5.xlarge", volumes=volumes)
        construct(stack, network, groups=[head])
        (found,) = (each for each in statements(synthesized(stack)) if "kms:CreateGrant" in each["Action"])
        assert {"kms:CreateGrant", "kms:DescribeKey", "kms:Decrypt"} <= set(found["Action"])
        assert {"HP7016", "HP7017", "HP7018"}.isdisjoint(ids(in_assembly(stack)))

    @settled("synth")
    def test_field_report_D_14_a_key_that_admits_nobody_is_told(self) -> None:
        closed = key("arn:aws:iam::111122223333:role/Admin")
        assert ids(of(Cluster=cluster(**VOLUME), Key=closed, Role=role(GRANTS))) == ["HP7016"]
        bound = key(ROOT, Condition={"StringEquals": {"kms:EncryptionContext:team": "a"}})
        assert ids(of(Cluster=cluster(**VOLUME), Key=bound, Role=role(GRANTS))) == ["HP7018"]

    @settled("synth")
    def test_field_report_D_14_so_is_a_role_without_the_permission(self) -> None:
        assert ids(of(Cluster=cluster(**VOLUME), Key=key(ROOT))) == ["HP7017"]

    @settled("synth")
    def test_field_report_D_14_account_and_role_together_are_enough(self) -> None:
        assert ids(of(Cluster=cluster(**VOLUME), Key=key(ROOT), Role=role(GRANTS))) == NOTHING
        assert ids(of(Cluster=cluster(**VOLUME), Key={"Type": "AWS::KMS::Key"}, Role=role(GRANTS))) == NOTHING

    @settled("docs")
    def test_field_report_D_14_keys_of_others_have_to_be_looked_at(self) -> None:
        assert "aws kms get-key-policy" in said_of("D-14")


class TestD16:
    @settled("synth")
    def test_field_report_D_16_a_bucket_that_holds_scripts_is_kept_or_emptied(self) -> None:
        going = {"Type": "AWS::S3::Bucket", "Properties": KEPT["Properties"]}
        waiting = {"Cluster": cluster(URI, depends_on=["Upload"]), "Upload": upload()}
        assert ids(of(**waiting, Scripts=going)) == ["HP5020"]
        assert ids(of(**waiting, Scripts=KEPT)) == NOTHING
        emptied = {"Type": "Custom::S3AutoDeleteObjects", "Properties": {"BucketName": {"Ref": "Scripts"}}}
        assert ids(of(**waiting, Scripts=going, Emptied=emptied)) == NOTHING

    @settled("template")
    def test_field_report_D_16_ours_need_no_bucket_of_the_stack(
        self, stack: cdk.Stack, network: hp.Network, tmp_path: Path
    ) -> None:
        construct(stack, network, lifecycle=hp.LifecycleScripts.extended(script(tmp_path / "lcs")))
        assert of_type(synthesized(stack), "AWS::S3::Bucket") == {}


@settled("docs")
def test_field_report_D_17_prolog_scripts_test_for_what_observability_makes() -> None:
    assert "let yours test for the folder first, and run one job with observability on" in said_of("D-17")


@settled("docs")
def test_field_report_D_18_scripts_start_the_daemon_of_their_role() -> None:
    assert "wait for slurm.conf, start slurmctld on the controller only" in said_of("D-18")
