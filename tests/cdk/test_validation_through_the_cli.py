"""The rules at synth as a user meets them: under the real CDK CLI, which goes by the report, not by exceptions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

CDK = Path(sys.executable).parent / "cdk"
APP = """\
import aws_cdk as cdk
import hyperpod_constructs as hp
from hyperpod_constructs import rules
app = cdk.App()
stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)
groups = [hp.InstanceGroup.controller("ml.m5.xlarge")]
cluster = hp.Cluster(stack, "Cluster", name="smoke", network=network, groups=groups)
"""


def synth(folder: Path, then: str) -> subprocess.CompletedProcess[str]:
    (folder / "app.py").write_text(APP + dedent(then) + "app.synth()\n")
    environment = {**os.environ, "CDK_DISABLE_CLI_TELEMETRY": "true", "CDK_DISABLE_VERSION_CHECK": "1", "CI": "true"}
    return subprocess.run(
        [CDK, "synth", "--quiet", "--no-notices", "--app", f"{sys.executable} app.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


class TestUnderTheCli:
    def test_an_error_stops_synth_and_says_what_to_do(self, tmp_path: Path) -> None:
        ran = synth(
            tmp_path, 'cluster.resource.add_property_override("InstanceGroups.0.InstanceType", "ml.m5.xlarg")\n'
        )
        assert ran.returncode == 1
        assert "ml.m5.xlarge" in ran.stdout + ran.stderr

    def test_a_rule_that_crashes_stops_synth_and_says_so(self, tmp_path: Path) -> None:
        ran = synth(
            tmp_path,
            """
            def broken(deployment):
                raise RuntimeError("this rule is broken")
                yield
            rules.RULES["HP1999"] = rules.Rule(
                id="HP1999", severity=hp.Severity.ERROR, title="t", because="b", source="s", check=broken
            )
            """,
        )
        assert ran.returncode == 1
        assert "this rule is broken" in ran.stdout + ran.stderr

    def test_a_decoder_that_crashes_stops_synth_and_says_so(self, tmp_path: Path) -> None:
        ran = synth(
            tmp_path,
            """
            from hyperpod_constructs.cdk import validation
            def broken(assembly):
                raise RuntimeError("this decoder is broken")
            validation.template.decode = broken
            """,
        )
        assert ran.returncode == 1
        assert "this decoder is broken" in ran.stdout + ran.stderr

    def test_a_good_app_passes(self, tmp_path: Path) -> None:
        ran = synth(tmp_path, "")
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def test_a_warning_that_only_a_constructor_can_give_is_printed_until_it_is_acknowledged(
        self, tmp_path: Path
    ) -> None:
        mounted = """
            files = hp.LustreFileSystem.from_attributes(
                dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="abcdefgh", zone="usw2-az1"
            )
            hp.Cluster(stack, "Far", name="far", network=network, groups=groups, mounts={{"/fsx": files}}{accepted})
            """
        said = synth(tmp_path, mounted.format(accepted=""))
        assert "HP4008" in said.stdout + said.stderr
        silent = synth(tmp_path, mounted.format(accepted=', acknowledge={"HP4008": "moved next month"}'))
        assert silent.returncode == 0
        assert "HP4008" not in silent.stdout + silent.stderr
