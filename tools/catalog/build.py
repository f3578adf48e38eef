"""Rebuilds the generated files of `hyperpod_constructs/catalog` from the installed development dependencies.

Run `python tools/catalog/build.py` after an upgrade of botocore, moto or cfn-lint, and read the diff.

    instances.json  which types exist: botocore, enum ClusterInstanceType of the SageMaker model
                    what they are:     moto, its copy of EC2 DescribeInstanceTypes; corrected and completed below
                    where priced:      cfn-lint, its per-Region lists made from AWS price lists
    regions.json    zone id prefixes:  moto; partitions: botocore; CloudFormation types per Region: cfn-lint
    schemas.json    has a generator of its own: python -m tools.catalog.schemas
    zones.json      zone ids:          moto; zones without a type that their Region has: moto, its copy of EC2
                                       DescribeInstanceTypeOfferings
    policies.json   managed policies:  moto, its copies of AWS's

The same versions give the same bytes, which a test holds.
"""

from __future__ import annotations

import gzip
import json
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.session import Session
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.iam.aws_managed_policies import aws_managed_policies_data

if TYPE_CHECKING:
    from collections.abc import Iterable

CATALOG = Path(__file__).parents[2] / "hyperpod_constructs" / "catalog"

_WRONG_TRAINIUM2 = "EC2's Trn2 page: 16 chips share 1.5 TB of HBM3, 96 GiB each; moto says 512 GiB a device"
CORRECTIONS = (
    # (type, object, field, right value, note). Node memory of trn2 (2,048 and 128 GiB) and the 17 cards with 16 EFA
    # interfaces of p6-b300 were checked against AWS's pages and are right in moto. moto's network bandwidth is wrong
    # for g6e, p6 and trn2.3xlarge, which is one reason why the catalogue has none.
    ("ml.trn2.48xlarge", "accelerator", "memory_gib_each", 96, _WRONG_TRAINIUM2),
    ("ml.trn2.3xlarge", "accelerator", "memory_gib_each", 96, _WRONG_TRAINIUM2),
)

SUPPLEMENT = {
    # Types that moto lacks. Left out is what no source says or sources disagree about: the EFA interfaces of p6e-gb200
    # are 0 in the hyperpod-cli table, which lists it for the EFA plugin all the same; its network cards are nowhere.
    # Source: aws/sagemaker-hyperpod-cli 3.9.0, training/constants.py (CPU, memory, GPUs; MIG profile mig-7g.186gb),
    # and the SageMaker guide on UltraServers (reserve-capacity-with-training-plans, October 2026).
    "ml.p6e-gb200.36xlarge": {
        "vcpus": 144,
        "memory_gib": 960,
        "accelerator": {"kind": "gpu", "name": "GB200", "count": 4, "memory_gib_each": 186},
        "architecture": "arm64",
        "ultraserver": True,
    },
}

CLOUDFORMATION_TYPES = (
    "AWS::APS::Scraper",
    "AWS::APS::Workspace",
    "AWS::Budgets::Budget",
    "AWS::Budgets::BudgetsAction",
    "AWS::CE::AnomalyMonitor",
    "AWS::EKS::Addon",
    "AWS::EKS::Cluster",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::Grafana::Workspace",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::SageMaker::Cluster",
    "AWS::SageMaker::ClusterSchedulerConfig",
    "AWS::SageMaker::ComputeQuota",
)
PARTITIONS = ("aws", "aws-cn", "aws-eusc", "aws-us-gov")
"""Without the isolated partitions, which nobody reaches with public tools."""


def main() -> None:
    """Writes every file."""
    files = {"instances": instances, "regions": regions, "zones": zones, "policies": policies}
    for name, content in files.items():
        (CATALOG / f"{name}.json").write_text(content(), encoding="utf-8")


def instances() -> str:
    """The content of instances.json."""
    priced = _priced_regions()
    described = _described_types()
    region_sets: list[list[str]] = []
    rows = {}
    for name in enum_members():
        row = dict(SUPPLEMENT[name]) if name in SUPPLEMENT else _row(described[name.removeprefix("ml.")])
        _correct(name, row)
        if priced.get(name, []) not in region_sets:
            region_sets.append(priced.get(name, []))
        rows[name] = {**row, "region_set": region_sets.index(priced.get(name, []))}
    return lines(
        {
            "sources": {
                "types": f"botocore {version('botocore')}, SageMaker ClusterInstanceType",
                "facts": f"moto {version('moto')}, EC2 DescribeInstanceTypes; corrections in tools/catalog/build.py",
                "regions": f"cfn-lint {version('cfn-lint')}, schemas of {schema_date()}, from AWS price lists",
            },
            "region_sets": region_sets,
            "types": rows,
        }
    )


def regions() -> str:
    """The content of regions.json."""
    return lines(
        {
            "sources": {
                "partitions": f"botocore {version('botocore')}, partitions.json",
                "zone_prefixes": f"moto {version('moto')}, EC2 DescribeAvailabilityZones",
                "types": f"cfn-lint {version('cfn-lint')}, registry schemas of {schema_date()}",
            },
            "partitions": _partitions(),
            "zone_prefixes": _zone_prefixes(),
            "types": _types_by_region(),
        }
    )


def zones() -> str:
    """The content of zones.json."""
    offers = _offers_by_zone()
    lacking = {name: _zones_without(name.removeprefix("ml."), offers) for name in enum_members()}
    return lines(
        {
            "sources": {
                "zones": f"moto {version('moto')}, EC2 DescribeAvailabilityZones and DescribeInstanceTypeOfferings",
                "lacking": f"moto {version('moto')}, EC2 DescribeInstanceTypeOfferings",
            },
            "zones": {region: sorted({*_zone_ids(region), *by_zone}) for region, by_zone in offers.items()},
            "lacking": {name: where for name, where in lacking.items() if where},
        }
    )


def policies() -> str:
    """The content of policies.json: managed policies by path; those of service-linked roles cannot be attached."""
    by_path: dict[str, list[str]] = {}
    for name, policy in json.loads(aws_managed_policies_data).items():
        by_path.setdefault(policy["Path"], []).append(name)
    del by_path["/aws-service-role/"]
    return lines(
        {
            "sources": {"policies": f"moto {version('moto')}, copies of AWS's managed policies"},
            "policies": {path: sorted(names) for path, names in sorted(by_path.items())},
        }
    )


def enum_members() -> list[str]:
    """Every instance type that CreateCluster accepts, sorted."""
    shape = Session().get_service_model("sagemaker").shape_for("ClusterInstanceType")
    return sorted(shape.enum)


def _row(described: dict[str, Any]) -> dict[str, Any]:
    """Our fields of one EC2 description."""
    network, cpu = described["NetworkInfo"], described["VCpuInfo"]
    (architecture,) = described["ProcessorInfo"]["SupportedArchitectures"]
    row = {
        "vcpus": cpu["DefaultVCpus"],
        "memory_gib": _gib(described["MemoryInfo"]["SizeInMiB"]),
        "accelerator": _accelerator(described),
        "threads_per_core": cpu.get("ValidThreadsPerCore"),
        "efa": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "network_cards": network["MaximumNetworkCards"],
        "ipv4_per_interface": network["Ipv4AddressesPerInterface"],
        "local_disk_gb": described.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "architecture": architecture,
    }
    return {field: value for field, value in row.items() if value is not None}


def _accelerator(described: dict[str, Any]) -> dict[str, Any] | None:
    for kind, devices in (
        ("gpu", described.get("GpuInfo", {}).get("Gpus")),
        ("neuron", described.get("NeuronInfo", {}).get("NeuronDevices")),
    ):
        if devices:
            (device,) = devices
            memory = _gib(device["MemoryInfo"]["SizeInMiB"])
            return {"kind": kind, "name": device["Name"], "count": device["Count"], "memory_gib_each": memory}
    return None


def _correct(name: str, row: dict[str, Any]) -> None:
    for wrong, part, field, right, note in CORRECTIONS:
        if wrong == name:
            if row[part][field] == right:
                raise SystemExit(f"{name}: the source has {field} {right} now; drop the correction ({note})")
            row[part] = {**row[part], field: right}


def _gib(mib: int) -> float:
    gib = round(mib / 1024, 2)
    return int(gib) if gib == int(gib) else gib


def _described_types() -> dict[str, Any]:
    packed = _package("moto") / "ec2" / "resources" / "instance_types.json.gz"
    described: dict[str, Any] = json.loads(gzip.decompress(packed.read_bytes()))
    return described


def _priced_regions() -> dict[str, list[str]]:
    """Regions by instance type."""
    lists = json.loads((_schemas() / "extensions" / "aws_sagemaker_cluster" / "instancetype_enum.json").read_text())
    priced: dict[str, list[str]] = {}
    del lists["description"]
    for region in sorted(lists):
        for name in lists[region]["enum"]:
            priced.setdefault(name, []).append(region)
    return priced


def _partitions() -> dict[str, dict[str, str]]:
    described = json.loads((_package("botocore") / "data" / "partitions.json").read_text())["partitions"]
    return {
        partition["id"]: {"pattern": partition["regionRegex"], "dns_suffix": partition["outputs"]["dnsSuffix"]}
        for partition in described
        if partition["id"] in PARTITIONS
    }


def _zone_prefixes() -> dict[str, str]:
    prefixes = {}
    for region, zones in sorted(RegionsAndZonesBackend.zones.items()):
        (prefixes[region],) = {re.sub(r"-az\d+$", "", zone.zone_id) for zone in zones}
    return prefixes


def _zone_ids(region: str) -> list[str]:
    return [zone.zone_id for zone in RegionsAndZonesBackend.zones[region]]


def _offers_by_zone() -> dict[str, dict[str, set[str]]]:
    """EC2's instance types by Region and zone id."""
    offers: dict[str, dict[str, set[str]]] = {}
    folder = _package("moto") / "ec2" / "resources" / "instance_type_offerings" / "availability-zone-id"
    for packed in sorted(folder.glob("*.json.gz")):
        by_zone = offers.setdefault(packed.name.removesuffix(".json.gz"), {})
        for each in json.loads(gzip.decompress(packed.read_bytes())):
            by_zone.setdefault(each["Location"], set()).add(each["InstanceType"])
    return offers


def _zones_without(name: str, offers: dict[str, dict[str, set[str]]]) -> list[str]:
    """Zones that lack a type of EC2 which another zone of their Region has."""
    return [
        zone
        for by_zone in offers.values()
        if any(name in types for types in by_zone.values())
        for zone, types in sorted(by_zone.items())
        if name not in types
    ]


def _types_by_region() -> dict[str, list[str]]:
    patterns = [partition["pattern"] for partition in _partitions().values()]
    lists = {
        path.stem: json.loads(path.read_text())
        for path in sorted((_schemas() / "providers").glob("*.json"))
        if any(re.match(pattern, path.stem) for pattern in patterns)
    }
    return {name: [region for region, types in lists.items() if name in types] for name in CLOUDFORMATION_TYPES}


def schema_date() -> str:
    """The day of the registry schemas in cfn-lint."""
    stamp: str = json.loads((_schemas() / "version.json").read_text())["schema_date"]
    return stamp.partition("T")[0]


def _schemas() -> Path:
    return _package("cfnlint") / "data" / "schemas"


def _package(name: str) -> Path:
    """Folder of an installed package, without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: install the development dependencies first")
    return Path(spec.origin).parent


def lines(sections: dict[str, Any]) -> str:
    """JSON with one line for each entry of a section, so that a diff shows what changed."""
    return (
        "{\n" + ",\n".join(f"{json.dumps(name)}: {_section(section)}" for name, section in sections.items()) + "\n}\n"
    )


def _section(section: dict[str, Any] | list[Any]) -> str:
    entries: Iterable[str]
    if isinstance(section, dict):
        entries = (f"{json.dumps(key)}: {_compact(value)}" for key, value in section.items())
        return "{\n" + ",\n".join(entries) + "\n}"
    return "[\n" + ",\n".join(_compact(value) for value in section) + "\n]"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()
