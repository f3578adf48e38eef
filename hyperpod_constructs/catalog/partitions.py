"""Which parts a GPU can be divided into (Multi-Instance GPU), as the words that a quota takes.

Sources: SageMaker developer guide, sagemaker-hyperpod-eks-gpu-partitioning (October 2026), for A100 of 40 GB, H100 and
H200; aws/sagemaker-hyperpod-cli, `INSTANCE_TYPE_MIG_PROFILES` (3.9.0), for the others and for `mig-1g.10gb` on the
A100 of 40 GB; the words of AWS::SageMaker::ComputeQuota (registry schema, 2026-10-20). B300 and RTX PRO 6000 can be
divided, but none of their profiles is among those words.
"""

from __future__ import annotations

from typing import Final

from hyperpod_constructs.catalog.instances import InstanceType

_OF_80_GB: Final = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_PROFILES: Final = {
    ("A100", 40): ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    ("A100", 80): _OF_80_GB,
    ("H100", 80): _OF_80_GB,
    ("H200", 141): ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    ("B200", 179.06): ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    ("GB200", 186): ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"),
}

KNOWN: Final = frozenset(f"mig-{profile}" for profiles in _PROFILES.values() for profile in profiles)
"""Every partition that a quota of some type can name; the schema judges other words."""


def of(kind: InstanceType) -> tuple[str, ...] | None:
    """The partitions that a quota of this type can name, empty without any; `None` where its GPUs are not known."""
    if kind.accelerator is None:
        return () if kind.accelerators == 0 else None
    profiles = _PROFILES.get((kind.accelerator.name, kind.accelerator.memory_gib_each or 0), ())
    return tuple(f"mig-{profile}" for profile in profiles)
