"""The database for Slurm's accounting, as CloudFormation will get it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

ENV = cdk.Environment(account="111122223333", region="us-west-2")
DATABASE = "AWS::RDS::DBInstance"
INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
GROUPS = (hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1))
KEPT = ("RetainExceptOnCreate", "Retain")


def closed(stack: cdk.Stack, **options: Any) -> hp.Network:
    given = {"zones": ["usw2-az2"], "egress": "closed", "endpoints": [], "flow_logs": False, **options}
    return hp.ClusterNetwork(stack, "Network", **given)


def imported(stack: cdk.Stack, **options: Any) -> hp.Network:
    subnet = hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")
    return hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=[subnet], **options)


def properties(stack: cdk.Stack) -> dict[str, Any]:
    (found,) = of_type(synthesized(stack), DATABASE).values()
    return found


@pytest.fixture(scope="module")
def made(context: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The template of a closed network with a database and a cluster that uses it."""
    app = cdk.App(context=context, outdir=str(tmp_path_factory.mktemp("made")))
    stack = cdk.Stack(app, "Test", env=ENV)
    network = closed(stack)
    database = hp.AccountingDatabase(stack, "Accounting", network=network)
    slurm = hp.Slurm(accounting=database.database)
    hp.Cluster(stack, "Train", name="train", network=network, groups=GROUPS, slurm=slurm)
    return synthesized(stack)


@pytest.fixture(scope="module")
def resource(made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (each for each in made["Resources"].values() if each["Type"] == DATABASE)
    return found


def _waits_for(template: dict[str, Any], logical_id: str) -> set[str]:
    """Logical ids of everything that a resource waits for, at any distance."""
    found: set[str] = set()
    new = {logical_id}
    while new:
        text = json.dumps([template["Resources"][each] for each in new])
        new = {each for each in template["Resources"] if f'"{each}"' in text} - found - {logical_id}
        found |= new
    return found


class TestData:
    def test_stays_with_all_that_it_stands_in_and_is_read_with(self, made: dict[str, Any]) -> None:
        kept = {
            name: each["Type"]
            for name, each in made["Resources"].items()
            if (each.get("DeletionPolicy"), each.get("UpdateReplacePolicy")) == KEPT
        }
        assert sorted(kept.values()) == [
            "AWS::EC2::SecurityGroup",
            "AWS::EC2::Subnet",
            "AWS::EC2::Subnet",
            "AWS::EC2::VPC",
            "AWS::RDS::DBInstance",
            "AWS::RDS::DBParameterGroup",
            "AWS::RDS::DBSubnetGroup",
            "AWS::SecretsManager::Secret",
        ]
        assert not [name for name in kept if "Fabric" in name]

    def test_is_encrypted_backed_up_and_refuses_to_be_deleted(self, resource: dict[str, Any]) -> None:
        wanted = {
            "StorageEncrypted": True,
            "DeletionProtection": True,
            "BackupRetentionPeriod": 7,
            "DeleteAutomatedBackups": False,
            "PubliclyAccessible": False,
            "MultiAZ": False,
        }
        assert {key: resource["Properties"][key] for key in wanted} == wanted

    def test_has_no_fixed_name_or_zone_which_would_replace_it(self, resource: dict[str, Any]) -> None:
        assert not {"DBInstanceIdentifier", "DBName", "AvailabilityZone"} & resource["Properties"].keys()

    def test_has_the_size_windows_and_key_that_are_asked_for(self, stack: cdk.Stack) -> None:
        key = kms.Key(stack, "Key")
        database = hp.AccountingDatabase(
            stack,
            "Accounting",
            network=closed(stack),
            instance_class="db.m8g.large",
            storage_gib=100,
            max_storage_gib=1000,
            multi_az=True,
            backup_days=35,
            backup_window="01:00-02:00",
            maintenance_window="mon:03:00-mon:04:00",
            engine_version="11.8.6",
            name="frontier",
            key=key,
        )
        found = properties(stack)
        wanted = {
            "DBInstanceClass": "db.m8g.large",
            "AllocatedStorage": "100",
            "MaxAllocatedStorage": 1000,
            "MultiAZ": True,
            "BackupRetentionPeriod": 35,
            "PreferredBackupWindow": "01:00-02:00",
            "PreferredMaintenanceWindow": "mon:03:00-mon:04:00",
            "EngineVersion": "11.8.6",
        }
        assert {name: found[name] for name in wanted} == wanted
        template = synthesized(stack)
        (secret,) = of_type(template, "AWS::SecretsManager::Secret").values()
        (settings,) = of_type(template, "AWS::RDS::DBParameterGroup").values()
        assert found["KmsKeyId"] == secret["KmsKeyId"] == stack.resolve(key.key_arn)
        assert settings["Family"] == "mariadb11.8"
        assert database.database.name == "frontier"


class TestCredentials:
    def test_are_generated_and_never_written_out(self, made: dict[str, Any], resource: dict[str, Any]) -> None:
        ((name, secret),) = of_type(made, "AWS::SecretsManager::Secret").items()
        generated = secret["GenerateSecretString"]
        assert json.loads(generated["SecretStringTemplate"]) == {"username": resource["Properties"]["MasterUsername"]}
        assert (generated["GenerateStringKey"], generated["ExcludePunctuation"]) == ("password", True)
        assert resource["Properties"]["MasterUserPassword"] == {
            "Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": name}, ":SecretString:password}}"]]
        }

    def test_are_not_rotated(self, made: dict[str, Any], resource: dict[str, Any]) -> None:
        assert not of_type(made, "AWS::SecretsManager::RotationSchedule")
        assert "ManageMasterUserPassword" not in resource["Properties"]

    def test_are_what_the_controller_alone_may_read(self, made: dict[str, Any]) -> None:
        (policy,) = (each for name, each in of_type(made, "AWS::IAM::Policy").items() if "Accounting" in name)
        (role,) = policy["Roles"]
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert "controller" in role["Ref"]
        assert statement["Action"] == "secretsmanager:GetSecretValue"

    def test_take_the_key_too_where_it_is_the_users(self, stack: cdk.Stack) -> None:
        network, key = closed(stack), kms.Key(stack, "Key")
        database = hp.AccountingDatabase(stack, "Accounting", network=network, key=key)
        slurm = hp.Slurm(accounting=database.database)
        hp.Cluster(stack, "Train", name="train", network=network, groups=GROUPS, slurm=slurm)
        found = of_type(synthesized(stack), "AWS::IAM::Policy")
        (policy,) = (each for name, each in found.items() if "Accounting" in name)
        read, decrypt = policy["PolicyDocument"]["Statement"]
        assert read["Action"] == "secretsmanager:GetSecretValue"
        assert (decrypt["Action"], decrypt["Resource"]) == ("kms:Decrypt", stack.resolve(key.key_arn))


class TestNetwork:
    def test_only_nodes_are_let_in_and_only_on_the_port(self, made: dict[str, Any]) -> None:
        (rule,) = (each for name, each in of_type(made, INGRESS).items() if "Accounting" in name)
        assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 3306, 3306)
        assert "Fabric" in json.dumps(rule["SourceSecurityGroupId"])
        assert not {"CidrIp", "CidrIpv6"} & rule.keys()

    def test_nodes_of_a_closed_network_are_let_out_to_it(self, made: dict[str, Any]) -> None:
        (rule,) = (each for name, each in of_type(made, EGRESS).items() if "Accounting" in name)
        assert "Fabric" in json.dumps(rule["GroupId"])
        assert "Accounting" in json.dumps(rule["DestinationSecurityGroupId"])
        assert rule["FromPort"] == 3306

    def test_a_cluster_waits_until_the_way_is_open(self, made: dict[str, Any]) -> None:
        (cluster,) = of_type(made, "AWS::SageMaker::Cluster")
        rules = [name for kind in (INGRESS, EGRESS) for name in of_type(made, kind) if "Accounting" in name]
        assert len(rules) == 2
        assert set(rules) <= _waits_for(made, cluster)

    def test_nothing_else_of_a_network_changes_with_it(self, context: dict[str, Any], tmp_path: Path) -> None:
        def resources(*, database: bool) -> dict[str, Any]:
            app = cdk.App(context=context, outdir=str(tmp_path / str(database)))
            stack = cdk.Stack(app, "Test", env=ENV)
            network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2", "usw2-az1"])
            if database:
                hp.AccountingDatabase(stack, "Accounting", network=network)
            found: dict[str, Any] = synthesized(stack)["Resources"]
            return {name: {"Type": each["Type"], **each.get("Properties", {})} for name, each in found.items()}

        without, beside = resources(database=False), resources(database=True)
        assert {name: beside.get(name) for name in without} == without
        assert len(beside) > len(without)

    def test_its_zones_can_be_chosen_and_two_databases_share_their_subnets(self, stack: cdk.Stack) -> None:
        network = closed(stack)
        for name in ("First", "Second"):
            hp.AccountingDatabase(stack, name, network=network, zones=["usw2-az3", "usw2-az4"])
        subnets = [name for name in of_type(synthesized(stack), "AWS::EC2::Subnet") if "Database" in name]
        assert ["az3" in subnets[0], "az4" in subnets[1], len(subnets)] == [True, True, 2]

    def test_in_an_imported_network_the_subnets_are_the_users(self, stack: cdk.Stack) -> None:
        subnets = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
        groups = ["sg-0123456789abcdef0", "sg-0123456789abcdef1"]
        network = imported(stack, security_group_ids=groups)
        hp.AccountingDatabase(stack, "Accounting", network=network, subnet_ids=subnets)
        template = synthesized(stack)
        (group,) = of_type(template, "AWS::RDS::DBSubnetGroup").values()
        assert group["SubnetIds"] == subnets
        assert [each["SourceSecurityGroupId"] for each in of_type(template, INGRESS).values()] == groups
        assert not of_type(template, EGRESS)


class TestArguments:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"instance_class": "t4g.medium"}, "instance_class is 't4g.medium'; use a class such as db.t4g.medium"),
            ({"engine_version": "11.4"}, "engine_version is '11.4'; use a whole version of MariaDB"),
            ({"engine_version": cdk.Fn.import_value("v")}, "engine_version is known only at deploy"),
            ({"backup_window": "24:00-25:00"}, "backup_window is '24:00-25:00'; use at least 30 minutes of UTC"),
            ({"maintenance_window": "10:00-11:00"}, "such as sun:10:00-sun:11:00"),
            ({"storage_gib": 10}, "storage_gib is 10; use 20 to 65,536 GiB"),
            ({"storage_gib": 100}, "max_storage_gib is 100; use 111 to 65,536 GiB"),
            ({"backup_days": 0}, "backup_days is 0; use 1 to 35 days"),
            ({"name": "slurm-db"}, r"use 1 to 64 letters, digits, \$ and _"),
            ({"zones": ["usw2-az2"]}, "give two or more different zone ids of one Region"),
            ({"zones": ["usw2-az1"], "subnet_ids": ["subnet-1", "subnet-2"]}, "zones have no effect beside subnet_ids"),
            ({"subnet_ids": ["subnet-1"]}, "give two or more subnets in different zones"),
            ({"subnet_ids": ["10.0.0.0/28", "subnet-1"]}, "use an id such as subnet-0123456789abcdef0"),
        ],
    )
    def test_that_cannot_be_right_are_refused_before_anything_is_made(
        self, stack: cdk.Stack, wrong: dict[str, Any], message: str
    ) -> None:
        network = closed(stack)
        with pytest.raises(hp.InvalidValue, match=message):
            hp.AccountingDatabase(stack, "Accounting", network=network, **wrong)
        assert stack.node.try_find_child("Accounting") is None
        assert not [each for each in network.node.children if "Database" in each.node.id]

    def test_an_imported_network_needs_subnets(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match="imported network; give subnet_ids, subnets in two zones of it"):
            hp.AccountingDatabase(stack, "Accounting", network=imported(stack))

    def test_a_network_can_be_too_small(self, stack: cdk.Stack) -> None:
        with pytest.raises(hp.InvalidValue, match="has no room for a database; use /21 or wider"):
            hp.AccountingDatabase(stack, "Accounting", network=closed(stack, cidr="10.0.0.0/22"))

    def test_a_database_that_exists_is_a_value(self) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
        found = hp.AccountingDatabase.from_attributes(endpoint="db.example.com", secret_arn=secret, port=3307)
        assert found == hp.ExternalDatabase(endpoint="db.example.com", secret_arn=secret, port=3307)

    def test_the_construct_itself_is_no_value_and_the_message_says_what_is(self, stack: cdk.Stack) -> None:
        network = closed(stack)
        database = hp.AccountingDatabase(stack, "Accounting", network=network)
        slurm = hp.Slurm(accounting=database)  # type: ignore[arg-type]  # the point
        with pytest.raises(hp.InvalidValue, match=r"use hp\.ExternalDatabase or the `database` of an hp\.Acc"):
            hp.Cluster(stack, "Train", name="train", network=network, groups=GROUPS, slurm=slurm)
