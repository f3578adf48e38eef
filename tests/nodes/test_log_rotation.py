"""Which logs another rule rotates already."""

from __future__ import annotations

import pytest
from hyperpod_node import log_rotation

LOGS = ["/var/log/hyperpod/steps.log", "/var/log/slurm/slurmd.log"]


@pytest.mark.parametrize(
    "rule",
    [
        "/var/log/slurm/slurmd.log {\n  weekly\n}\n",
        "/var/log/slurm/*.log {\n}\n",
        "/var/log/slurm-llnl/slurmd.log /var/log/slurm/slurmd.log {\n}\n",
        '"/var/log/slurm/slurmd.log" {\n}\n',
        "/var/log/a.log\n/var/log/slurm/slurmd.log\n{\n}\n",
        "/var/log/slurm/slurmd.log{\n}\n",
    ],
)
def test_a_log_that_another_rule_names_is_left_to_it(rule: str) -> None:
    assert log_rotation.unrotated(LOGS, rule) == LOGS[:1]


@pytest.mark.parametrize(
    "rule", ["", "/var/log/syslog {\n postrotate\n  /usr/lib/rsyslog/rsyslog-rotate\n endscript\n}\n"]
)
def test_other_rules_are_no_matter(rule: str) -> None:
    assert log_rotation.unrotated(LOGS, rule) == LOGS
