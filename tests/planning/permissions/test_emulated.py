"""The policy of the Slurm example against what the emulated account of tests/proof does with it.

The emulator makes networks, roles, topics and file systems in its own memory, without a call that IAM would see. Only
its handlers of AWS::SageMaker::Cluster call an API, and those calls are compared here. Of all types, what the
registry's handlers may call is compared in tests/proof/test_permissions.py, where the resources are really made.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import botocore.session
from botocore import xform_name

ROOT = Path(__file__).parents[3]
EMULATOR = ROOT / "tests" / "proof" / "emulator" / "resources.py"
POLICY = Path(__file__).with_name("slurm-example.json")


def called() -> set[str]:
    """Actions of SageMaker that the emulated handlers call."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    by_method = {xform_name(name): f"sagemaker:{name}" for name in model.operation_names}
    tree = ast.parse(EMULATOR.read_text(encoding="utf-8"))
    methods = {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) if isinstance(node.func, ast.Attribute)
    }
    return {by_method[method] for method in methods & by_method.keys()}


def allowed() -> set[str]:
    """Actions of the policy."""
    statements = [each for document in json.loads(POLICY.read_text()).values() for each in document["Statement"]]
    actions = [each["Action"] for each in statements]
    return {action for each in actions for action in (each if isinstance(each, list) else [each])}


def test_what_the_emulated_handlers_call_is_allowed() -> None:
    assert called() == {"sagemaker:CreateCluster", "sagemaker:DeleteCluster", "sagemaker:UpdateCluster"}
    assert called() <= allowed()


def test_what_is_allowed_of_sagemaker_beyond_that_is_for_tags_nodes_and_reads() -> None:
    beyond = {action for action in allowed() - called() if action.startswith("sagemaker:")}
    assert beyond == {
        "sagemaker:AddTags",
        "sagemaker:BatchAddClusterNodes",
        "sagemaker:BatchDeleteClusterNodes",
        "sagemaker:DeleteTags",
        "sagemaker:DescribeCluster",
        "sagemaker:DescribeTrainingPlan",
        "sagemaker:ListClusters",
        "sagemaker:ListTags",
        "sagemaker:UpdateClusterSoftware",
    }
