"""What Slurm says of its prolog, in older and newer words."""

from __future__ import annotations

import pytest
from hyperpod_node.job_checks import settings


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("Prolog                  = /opt/slurm/etc/prolog.d/*\n", ["/opt/slurm/etc/prolog.d/*"]),
        ("Prolog[0]               = /a.sh \nProlog[1]               = /b.d/*\n", ["/a.sh", "/b.d/*"]),
        ("Prolog                  = (null)\nPrologEpilogTimeout     = 65534\nPrologFlags = Alloc\n", []),
        ("PrologSlurmctld         = /c.sh\nTaskProlog              = /d.sh\n", []),
        ("", []),
    ],
)
def test_the_prolog_is_found_in_older_and_newer_versions(config: str, found: list[str]) -> None:
    assert settings(f"Configuration data as of 2026-11-30T22:00:00\n{config}", "Prolog") == found
