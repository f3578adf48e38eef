"""Volumes and mounts of nodes as templates have them."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

UNDECIDABLE = {"Ref": "Given"}
FILES = {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"]}}
NAME = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
DNS_NAME, MOUNT_NAME = ({"Fn::GetAtt": ["Files", attribute]} for attribute in ("DNSName", "LustreMountName"))


@pytest.fixture
def group_of(deployment_of: Any) -> Any:
    """Decodes one group with these InstanceStorageConfigs beside the file system `Files`, with what was invalid."""

    def decode(*configs: object) -> tuple[InstanceGroup, list[str]]:
        group = {
            "InstanceGroupName": "p5",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 1,
            "ExecutionRole": "arn:aws:iam::111122223333:role/node",
            "InstanceStorageConfigs": list(configs),
        }
        cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}}
        read = deployment_of({"C": cluster, "Files": FILES}, Parameters={"Given": {"Type": "String"}})
        return read.clusters[0].groups[0], refused(read)

    return decode


def lustre(dns_name: object = DNS_NAME, mount_name: object = MOUNT_NAME) -> dict[str, Any]:
    return {"FsxLustreConfig": {"DnsName": dns_name, "MountName": mount_name}}


class TestMounts:
    @pytest.mark.parametrize(
        "dns_name",
        [
            DNS_NAME,
            {"Fn::Sub": "${Files}.fsx.${AWS::Region}.amazonaws.com"},
            {"Fn::Sub": "${Files.DNSName}"},
            {"Fn::Join": ["", [{"Ref": "Files"}, ".fsx.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]},
        ],
    )
    def test_lead_to_the_file_system(self, group_of: Any, dns_name: object) -> None:
        group, _ = group_of(lustre(dns_name, "abcdefgh"))
        assert group.mounts == (Mount(kind="lustre", file_system="app.json/Files", mount_name="abcdefgh"),)

    def test_may_be_known_by_the_mount_name_only(self, group_of: Any) -> None:
        group, _ = group_of(lustre(UNDECIDABLE))
        assert group.mounts == (Mount(kind="lustre", file_system="app.json/Files", mount_name="app.json/Files"),)

    def test_by_another_attribute_name_it(self, group_of: Any) -> None:
        group, _ = group_of(lustre({"Ref": "Files"}, DNS_NAME))
        assert group.mounts == (
            Mount(kind="lustre", file_system="app.json/Files.Ref", mount_name="app.json/Files.DNSName"),
        )

    def test_of_other_file_systems_have_their_dns_name(self, group_of: Any) -> None:
        group, invalid = group_of({"FsxOpenZfsConfig": {"DnsName": NAME}})
        assert group.mounts == (Mount(kind="openzfs", file_system=NAME),)
        assert invalid == []

    def test_by_what_is_no_dns_name_are_reported_once(self, group_of: Any) -> None:
        group, invalid = group_of(lustre(f"{NAME}@tcp:/abcdefgh"))
        assert group.mounts[0].file_system == "app.json/Files"
        (found,) = invalid
        assert found.endswith("use the file system's DNS name alone: fs-0123456789abcdef0.fsx.REGION.amazonaws.com")

    def test_by_what_is_no_mount_name_are_reported_once(self, group_of: Any) -> None:
        group, invalid = group_of(lustre(mount_name="muchtoolongname"))
        assert group.mounts[0].mount_name is UNKNOWN
        (found,) = invalid
        assert found.startswith("InstanceGroups[0].InstanceStorageConfigs[0].FsxLustreConfig.MountName is 'muchtool")

    def test_without_a_mount_name_are_reported_once(self, group_of: Any) -> None:
        _, invalid = group_of({"FsxLustreConfig": {"DnsName": DNS_NAME}})
        assert [each.partition(".FsxLustreConfig.")[2] for each in invalid] == [
            "MountName is missing; give MountName: it is required"
        ]

    def test_and_volumes_are_unknown_if_one_entry_is(self, group_of: Any) -> None:
        group, _ = group_of({"EbsVolumeConfig": {"VolumeSizeInGB": 1}}, UNDECIDABLE)
        assert (group.volumes, group.mounts) == (UNKNOWN, UNKNOWN)

    def test_and_volumes_in_one_element_are_reported(self, group_of: Any) -> None:
        _, invalid = group_of({"EbsVolumeConfig": {"VolumeSizeInGB": 1}, **lustre()})
        assert len(invalid) == 1
