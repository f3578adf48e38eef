"""Properties that want an ARN: what `Ref` gives of roles and EKS clusters is a name, and the service refuses that."""

from __future__ import annotations

from typing import Final

from hyperpod_constructs.cloudformation.values import Reference, Text
from hyperpod_constructs.model._reading import Node, Reader
from hyperpod_constructs.tokens import Unknown

_UNDERSTOOD: Final = {
    "AWS::EKS::Cluster",
    "AWS::IAM::InstanceProfile",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::IAM::User",
}
"""Types of which it is known what `Ref` and `Fn::GetAtt` give. Source: CloudFormation registry, cfn-lint 1.58.0."""
_ARN: Final = "Arn"


def arn_of(kind: str) -> Reader:
    """A reader of an ARN: the path of the resource it belongs to, or the ARN itself.

    Args:
        kind: Type of the resource, for example `AWS::IAM::Role`.
    """

    def read(node: Node) -> str | Unknown | None:
        _check(node, kind)
        return node.path()

    return read


def _check(node: Node, kind: str) -> None:
    """Reports a reference that certainly gives something else."""
    value = node.value
    if isinstance(value, Text):
        # The ARN of one resource inside other text is no ARN; a name inside is what ARNs are written with.
        if any(each.attribute == _ARN and node.reading.type_of(each) in _UNDERSTOOD for each in value.references):
            node.report("holds an ARN inside other text", "use the ARN alone: !GetAtt RESOURCE.Arn")
        return
    found = node.reading.type_of(value) if isinstance(value, Reference) else None
    if not isinstance(value, Reference) or found not in _UNDERSTOOD:
        return
    name = value.logical_id
    if found != kind:
        node.report(f"is that of {name}, an {found}", f"use the ARN of an {kind}")
    elif value.attribute is None:
        node.report(f"is the name of {name}, which is what Ref gives", f"use its ARN: !GetAtt {name}.{_ARN}")
    elif value.attribute != _ARN:
        node.report(f"is the {value.attribute} of {name}", f"use its ARN: !GetAtt {name}.{_ARN}")
