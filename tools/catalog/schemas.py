"""Rebuilds `hyperpod_constructs/catalog/schemas.json`: what the services accept in each property that we check.

Run `python -m tools.catalog.schemas` after an upgrade of cfn-lint or botocore, and read the diff.

    the resource types   cfn-lint, the registry schemas of CloudFormation in its data
    CreateCluster        botocore, the input of the operation

CloudFormation hands most values on to an API, and the registry leaves many constraints to it (all of FSx's and most of
those of budgets): what the registry does not say of a property is added from the operation that CloudFormation calls.
Where both say something, the registry wins. The same versions give the same bytes, which a test holds.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

from botocore.model import Shape
from botocore.session import Session
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tools.catalog.build import CATALOG, lines, schema_date

Json = dict[str, Any]

OPERATIONS = {
    "AWS::SageMaker::Cluster": ("sagemaker", "CreateCluster"),
    "AWS::SageMaker::ClusterSchedulerConfig": ("sagemaker", "CreateClusterSchedulerConfig"),
    "AWS::SageMaker::ComputeQuota": ("sagemaker", "CreateComputeQuota"),
    "AWS::FSx::FileSystem": ("fsx", "CreateFileSystem"),
    "AWS::FSx::DataRepositoryAssociation": ("fsx", "CreateDataRepositoryAssociation"),
    "AWS::Budgets::Budget": ("budgets", "CreateBudget"),
}
"""Each resource type with the service and operation that CloudFormation creates it with."""

REQUEST = "CreateCluster"

NOT_OURS = frozenset({"OntapConfiguration", "WindowsConfiguration"})
"""Definitions that are not looked into: file systems that HyperPod does not mount."""

SAME_BUT_FAST = {
    # The originals are ambiguous, and Python takes exponential time for a text that almost matches.
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?$": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    r"^[0-9](.[0-9]*)*$": r"^[0-9].*$",
    # Python has no classes for kinds of characters. Letters, digits and spaces are the same; for the other, control
    # characters are all that certainly is not allowed.
    r"^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$": "^[\\w \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000.:/=+\\-@]*$",
    r"^(?![^:\\]*/action/|(?i).*<script>.*</script>.*)[^:\\]+$": (
        r"^(?![^:\\]*/action/|(?i:.*<script>.*</script>.*))[^:\\]+$"
    ),
    r"^[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]*$": r"^[^\u0000-\u001f\u007f-\u009f]*$",
}
IDS = re.compile(r"\^\((subnet|sg|rtb)-\[0-9a-f\]\{8,\}\)\$")
"""FSx's patterns of ids; SageMaker's is used instead, because examples shorten ids: `subnet-1`."""
ANYTHING = re.compile(r"\^?\(?(\[\\S\\s\]|\.)(\*|\+|\{\d+,\d+\})\)?\$?|.*\\f\\ .*", re.DOTALL)
"""Patterns that say no more than the length does; the last alternative is that of a subscriber's address."""

_WORDS = "letters, digits and hyphens, beginning and ending with a letter or digit"
_LOWER = "small letters, digits and hyphens, beginning and ending with a letter or digit"
_LABEL = "letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
_ONE_LINE = "one line of text"
_TAG = "letters, digits, spaces and _ . : / = + - @"
SAYS = {
    # What a pattern means, in words that follow "use"; a test says which has none.
    r"cron\((?:[0-5][0-9]|[0-9]|) (?:[01][0-9]|2[0-3]|[0-9]) (?:[1-9]|0[1-9]|[12][0-9]|3[01]|\?)"
    r" (?:[1-9]|0[1-9]|1[0-2]|\*|\*/(?:[1-9]|1[0-2])|)"
    r" (?:MON|TUE|WED|THU|FRI|SAT|SUN|[1-7]|\?|L|(?:[1-7]#[1-5])|(?:[1-7]L)) (?:20[2-9][0-9]|\*|)\)": (
        "cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR), such as cron(0 3 ? * SUN *)"
    ),
    r"INSTANCE_COUNT|CAPACITY_PERCENTAGE": "INSTANCE_COUNT or CAPACITY_PERCENTAGE",
    r"^(?!\s*$).+$": "a name that is not blank",
    r"^(?![^:\\]*/action/|(?i:.*<script>.*</script>.*))[^:\\]+$": r"a name without ':', '\' and '/action/'",
    r"^((fs|fc)i?-[0-9a-f]{8,}\..{4,253})$": "the DNS name of a file system, such as "
    "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$": _LABEL,
    r"^(?=.{1,255}$)([a-zA-Z0-9]([a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?)*$": (
        "a host name without scheme and port, such as slurm.cluster-abc.us-west-2.rds.amazonaws.com"
    ),
    r"^([01][0-9]|2[0-3]):?([0-5][0-9])$": "HH:MM in UTC, such as 05:00",
    r"^([A-Za-z0-9_-]{1,8})$": "the mount name of the file system: 1 to 8 letters, digits, '-' and '_'",
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$": (
        f"{_LABEL}; a domain such as example.com/ may stand before it"
    ),
    r"^(ami-[0-9a-fA-F]{8,17}|default)$": "ami- and 8 to 17 hexadecimal digits, or default",
    r"^ami-[0-9a-fA-F]{8,17}|default$": "ami- and 8 to 17 hexadecimal digits, or default",
    r"^(fs-[0-9a-f]{8,})$": "the id of a file system, such as fs-0123456789abcdef0",
    r"^(https|s3)://([^/]+)/?(.*)$": "s3://BUCKET/PREFIX",
    r"^/(?!/)(?!.*/$)[a-zA-Z0-9._-]+(/[a-zA-Z0-9._-]+)*$": (
        "an absolute path such as /fsx, without // and a / at the end"
    ),
    r"^/[a-zA-Z0-9._/-]+$": "an absolute path such as /fsx",
    r"^[ -~]{1,128}$": "plain ASCII",
    r"^[-0-9a-zA-Z]+$": "an id such as subnet-0123456789abcdef0 or sg-0123456789abcdef0, or a Ref",
    r"^[0-9]+\.[0-9]+\.[0-9]+$": "three numbers such as 1.0.742",
    r"^[0-9].*$": "a version such as 2.15",
    r"^[1-7]:([01][0-9]|2[0-3]):?([0-5][0-9])$": "d:HH:MM in UTC, Monday is 1: 7:03:00",
    "^[\\w \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000.:/=+\\-@]*$": _TAG,
    r"^[^\u0000-\u001f\u007f-\u009f]*$": "text without line breaks, tabs and other control characters",
    r"^[^\u0000\u0085\u2028\u2029\r\n]{1,4096}$": _ONE_LINE,
    r"^[^\u0000\u0085\u2028\u2029\r\n]{3,4357}$": _ONE_LINE,
    r"^[^\u0000\u0085\u2028\u2029\r\n]{4,43}$": _ONE_LINE,
    r"^[^\u0000\u0085\u2028\u2029\r\n]{9,17}$": _ONE_LINE,
    r"^[a-zA-Z0-9$_]+$": "letters, digits, $ and _",
    r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$": _WORDS,
    r"^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$": _WORDS,
    r"^[a-zA-Z0-9:/_-]*$": "the id, alias or ARN of a key",
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": _LOWER,
    r"^arn:[^:]{1,63}:[^:]{0,63}:[^:]{0,63}:(?:|[0-9]{12}):[^/].{0,1023}$": "the ARN of a log group",
    r"^arn:aws[a-z\-]*:eks:[a-z0-9\-]*:[0-9]{12}:cluster\/[0-9A-Za-z][A-Za-z0-9\-_]{0,99}$": (
        "the ARN of an EKS cluster: arn:aws:eks:REGION:ACCOUNT:cluster/NAME"
    ),
    r"^arn:aws[a-z\-]*:iam::[0-9]{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+$": (
        "the ARN of a role: arn:aws:iam::ACCOUNT:role/NAME"
    ),
    r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:cluster/[a-z0-9]{12}$": (
        "the ARN of a HyperPod cluster, which ends in its id of 12 characters and not in its name"
    ),
    r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:training-plan/.*$": (
        "the ARN of a training plan: arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME"
    ),
    r"^arn:aws[a-z\-]*:secretsmanager:[a-z0-9\-]*:[0-9]{12}:secret:.+$": (
        "the ARN of a secret: arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
    ),
    r"^arn:aws[a-z-]*:(billing)::[0-9]{12}:billingview/[a-zA-Z0-9/:_\+=\.\-@]{0,75}[a-zA-Z0-9]$": (
        "the ARN of a billing view"
    ),
}


def main() -> None:
    """Writes the file."""
    (CATALOG / "schemas.json").write_text(schemas(), encoding="utf-8")


def schemas() -> str:
    """The content of schemas.json."""
    return lines(
        {
            "sources": {
                "registry": f"cfn-lint {version('cfn-lint')}, registry schemas of {schema_date()}",
                "api": f"botocore {version('botocore')}",
            },
            **{name: resource(name) for name in OPERATIONS},
            REQUEST: request(),
        }
    )


def registered(name: str) -> Json:
    """The registry's schema of a resource type."""
    schema: Json = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", name).schema
    return schema


def resource(name: str) -> Json:
    """The definitions of a resource type by name, that of the type itself as `root`."""
    service, operation = OPERATIONS[name]
    return _Registry(registered(name)).read(_input(service, operation))


def request() -> Json:
    """The definitions of CreateCluster by name, that of the request itself as `root`."""
    found: Json = {}
    _api_reference(_input("sagemaker", REQUEST), found, name="root")
    return found


def _input(service: str, operation: str) -> Shape:
    """The shape of what an operation takes."""
    return Session().get_service_model(service).operation_model(operation).input_shape


class _Registry:
    """One schema of the registry on its way to our form."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self.found: Json = {}

    def read(self, shape: Shape) -> Json:
        self._object("root", self.schema, shape)
        for path in self.schema["readOnlyProperties"]:
            self._mark(path.removeprefix("/properties/").replace("/*", "").split("/"))
        return self.found

    def _mark(self, path: list[str]) -> None:
        """Notes that only the service sets a property."""
        definition = self.found["root"]
        for step in path[:-1]:
            below = definition["properties"][step]
            definition = self.found[below.get("ref") or below["items"]["ref"]]
        del definition["properties"][path[-1]]
        definition.setdefault("readOnly", []).append(path[-1])

    def _object(self, name: str, schema: Json, shape: Shape) -> None:
        if name in self.found:
            return
        found = self.found[name] = {}
        choices = schema.get("oneOf", [])
        if choices:
            found["exactlyOne"] = True
        members = getattr(shape, "members", {})
        properties = schema.get("properties", {})
        for choice in choices:
            properties = {**properties, **choice["properties"]}
        if "patternProperties" in schema:
            found |= _api_map(shape)
            return
        found["properties"] = {key: self._value(value, members.get(key)) for key, value in sorted(properties.items())}
        if required := schema.get("required"):
            found["required"] = sorted(required)

    def _value(self, schema: Json, shape: Shape) -> Json:
        """A property, or an element of a list."""
        name = schema.get("$ref", "").rpartition("/")[2]
        if name in NOT_OURS:
            return {}
        below = self.schema["definitions"][name] if name else schema
        kind = below.get("type")
        if kind == "object":
            self._object(name, below, shape)
            return {"ref": name}
        if kind == "array":
            items = {"items": self._value(below["items"], getattr(shape, "member", None))}
            return {"type": "array", **items, **_stated(below), **_added(below, shape)}
        if not isinstance(kind, str):
            return {}  # a map or its JSON
        value = {"type": kind, **_stated(below), **_added(below, shape)}
        if "enum" in value:
            value.pop("pattern", None)  # the same words
        return value


def _stated(schema: Json) -> Json:
    """What the registry says of a value."""
    kept = ("enum", "maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems")
    found = {key: schema[key] for key in kept if key in schema}
    found = {key: value for key, value in found.items() if value or key == "minimum"}
    if schema.get("uniqueItems"):
        found["uniqueItems"] = True
    return found | _pattern(schema.get("pattern", ""))


def _added(schema: Json, shape: Shape) -> Json:
    """What the API says of a value of the same kind and the registry does not say."""
    api = _api_value(shape) if shape is not None else {}
    if schema["type"] != api.get("type"):
        return {}
    said = _stated(schema)
    loose = "pattern" in said and not schema["pattern"].startswith("^")
    return {
        key: value
        for key, value in api.items()
        if key not in {"type", "items", "minItems"}
        and (key not in said or (loose and key in {"pattern", "says"}))
        # That a text must not be empty is left to the registry: CloudFormation may leave out an empty one.
        and (key, value) != ("minLength", 1)
    }


def _api_reference(shape: Shape, found: Json, name: str = "") -> Json:
    """A value of the API, its structures by name."""
    if shape.type_name == "list":
        return {**_api_value(shape), "items": _api_reference(shape.member, found)}
    if shape.type_name == "map":
        found[shape.name] = _api_map(shape)
        return {"ref": shape.name}
    if shape.type_name != "structure":
        return _api_value(shape)
    name = name or shape.name
    if name not in found:
        found[name] = {}
        found[name]["properties"] = {key: _api_reference(value, found) for key, value in sorted(shape.members.items())}
        if shape.required_members:
            found[name]["required"] = sorted(shape.required_members)
        if shape.is_tagged_union:
            found[name]["exactlyOne"] = True
    return {"ref": name}


def _api_map(shape: Shape) -> Json:
    return {"keys": _api_value(shape.key), "values": _api_value(shape.value), **_limits(shape, "Properties")}


def _api_value(shape: Shape) -> Json:
    """What the API says of a text, a number or the length of a list."""
    kinds = {"long": "integer", "float": "number", "double": "number", "list": "array"}
    kind = kinds.get(shape.type_name, shape.type_name)
    if kind == "string":
        pattern = shape.metadata.get("pattern", "")
        if IDS.fullmatch(pattern):
            return {"type": kind, **_pattern("^[-0-9a-zA-Z]+$")}
        names = shape.name == "ClusterInstanceType"  # the catalogue of types knows more of them
        enum = {"enum": list(shape.enum)} if shape.enum and not names else {}
        return {"type": kind, **enum, **_limits(shape, "Length"), **_pattern(_anchored(pattern))}
    if kind == "array":
        return {"type": kind, **_limits(shape, "Items")}
    if kind in {"integer", "number"}:
        return {"type": kind, **_limits(shape)}
    return {"type": kind} if kind == "boolean" else {}


def _limits(shape: Shape, what: str = "") -> Json:
    words = {"min": f"min{what}" if what else "minimum", "max": f"max{what}" if what else "maximum"}
    limits = {words[key]: shape.metadata[key] for key in ("max", "min") if key in shape.metadata}
    return {key: value for key, value in limits.items() if value != 2**31 - 1 and (value or not what)}


def _anchored(pattern: str) -> str:
    """The pattern of a whole text, which is what patterns of APIs are."""
    if not pattern or (pattern.startswith("^") and pattern.endswith("$")):
        return pattern
    return f"^(?:{pattern})$" if "|" in pattern and not pattern.startswith("(") else f"^{pattern}$"


def _pattern(pattern: str) -> Json:
    """A pattern as Python reads it, with its meaning."""
    if not pattern or ANYTHING.fullmatch(pattern):
        return {}
    python = SAME_BUT_FAST.get(pattern, pattern).replace(r"\d", "[0-9]")
    return {"pattern": python, "says": SAYS.get(python, "")}


if __name__ == "__main__":
    main()
