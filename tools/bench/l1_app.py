"""The same templates from bare L1 resources: what the CDK itself costs, without this library.

It loads the service modules that a hand-written app would, and makes every resource untyped, which is the cheapest way.
Run with the folder of a finished cdk.out as the only argument.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import aws_cdk as cdk


def build(outdir: Path) -> cdk.App:
    """An app whose stacks hold every resource and output of the finished templates."""
    app = cdk.App()
    manifest = json.loads((outdir / "manifest.json").read_text())
    for name, artifact in manifest["artifacts"].items():
        if artifact["type"] != "aws:cloudformation:stack":
            continue
        template = json.loads((outdir / artifact["properties"]["templateFile"]).read_text())
        stack = cdk.Stack(app, name)
        for logical_id, resource in template["Resources"].items():
            importlib.import_module(f"aws_cdk.aws_{resource['Type'].split('::')[1].lower()}")
            made = cdk.CfnResource(stack, logical_id, type=resource["Type"], properties=resource.get("Properties"))
            made.override_logical_id(logical_id)
        for key, output in template.get("Outputs", {}).items():
            cdk.CfnOutput(stack, key, value=output["Value"] if isinstance(output["Value"], str) else "-")
    return app


if __name__ == "__main__":
    build(Path(sys.argv[1])).synth()
