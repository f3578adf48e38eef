"""What is said of lifecycle scripts and of nodes' access to them."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, compute, controller, deployment, eks_cluster, kubernetes, slurm_cluster, told

SOURCE = "s3://sagemaker-scripts/lcs"
PARAMETERS = ScriptFile(name="provisioning_parameters.json")


def lifecycle(**fields: Any) -> Lifecycle:
    """`on_create.sh` below `s3://sagemaker-scripts/lcs`."""
    return Lifecycle(**{"source_uri": SOURCE, "on_create": "on_create.sh", **fields})


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a group with such a lifecycle."""
    return told(rule, deployment(slurm_cluster(compute(lifecycle=lifecycle(**fields)))))


@pytest.mark.parametrize("rule", [each for each in RULES if each.startswith("HP5")])
@pytest.mark.parametrize(
    "scripts",
    [
        None,
        UNKNOWN,
        Lifecycle(source_uri=UNKNOWN, on_create=UNKNOWN, on_init_complete=UNKNOWN),
        lifecycle(files=(ScriptFile(name="on_create.sh"),)),
    ],
)
def test_no_rule_speaks_of_sound_or_unknown_scripts(rule: str, scripts: Any) -> None:
    assert told(rule, deployment(slurm_cluster(compute(lifecycle=scripts, execution_role="arn:role")))) == []


class TestLifecycleHasOneScript:
    def test_names_both(self) -> None:
        assert of("HP5001", on_init_complete="extend.sh") == [
            (
                "HP5001 group 'p5' has OnCreate on_create.sh and OnInitComplete extend.sh | "
                "keep OnInitComplete, which runs after HyperPod's own provisioning, or OnCreate, which replaces it"
            )
        ]

    @pytest.mark.parametrize("other", [None, UNKNOWN])
    def test_is_silent_on_one(self, other: Any) -> None:
        assert of("HP5001", on_init_complete=other) == of("HP5001", on_create=other, on_init_complete="x.sh") == []


class TestLifecycleIsWhole:
    def test_a_script_needs_a_source(self) -> None:
        assert of("HP5002", source_uri=None) == [
            "HP5002 group 'p5' names on_create.sh but no source | give SourceS3Uri, the prefix where the script lies"
        ]

    def test_a_source_needs_a_script(self) -> None:
        assert of("HP5002", on_create=None) == [
            (
                f"HP5002 group 'p5' has scripts at {SOURCE} but calls none | "
                "name one as OnCreate or OnInitComplete, or leave the whole lifecycle out"
            )
        ]

    def test_is_a_warning_because_it_is_inferred(self) -> None:
        assert RULES["HP5002"].severity is Severity.WARNING

    @pytest.mark.parametrize("fields", [{}, {"source_uri": None, "on_create": None}])
    def test_is_silent_on_both_and_on_neither(self, fields: dict[str, Any]) -> None:
        assert of("HP5002", **fields) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"source_uri": UNKNOWN, "on_create": None},
            {"source_uri": None, "on_create": UNKNOWN},
            {"on_create": UNKNOWN},
        ],
    )
    def test_is_silent_on_what_is_not_known(self, fields: dict[str, Any]) -> None:
        assert of("HP5002", **fields) == []


class TestSourceIsAnS3Prefix:
    @pytest.mark.parametrize(
        "uri",
        ["sagemaker-x/lcs", "http://x/lcs", "https:///lcs", "s3:///lcs", "s3://Scripts/lcs", "s3://", "s3://x*y/"],
    )
    def test_names_it(self, uri: str) -> None:
        assert of("HP5003", source_uri=uri) == [
            (
                f"HP5003 group 'p5' has its scripts at {uri!r} | "
                "use s3://BUCKET/PREFIX with at most 1,024 characters, the bucket in lower case"
            )
        ]

    def test_has_a_longest_length(self) -> None:
        longest = "s3://sagemaker-x/".ljust(1024, "a")
        assert of("HP5003", source_uri=longest) == []
        assert len(of("HP5003", source_uri=longest + "a")) == 1
        assert len(of("HP5003", source_uri="https://x/".ljust(1025, "a"))) == 1

    @pytest.mark.parametrize(
        "uri", [SOURCE, "s3://sagemaker-x", "s3://sagemaker-x/lcs/", "s3://sagemaker-*", "s3://*", UNKNOWN]
    )
    def test_is_silent_on_prefixes_and_unknown_ones(self, uri: Any) -> None:
        assert of("HP5003", source_uri=uri) == []

    def test_leaves_https_to_a_warning(self) -> None:
        uri = "https://sagemaker-x.s3.us-west-2.amazonaws.com/lcs"
        assert of("HP5003", source_uri=uri) == []
        assert of("HP5012", source_uri=uri) == [f"HP5012 group 'p5' has its scripts at {uri} | use s3://BUCKET/PREFIX"]
        assert RULES["HP5012"].severity is Severity.WARNING
        assert of("HP5012") == of("HP5012", source_uri=UNKNOWN) == []


class TestScriptsAreRelative:
    @pytest.mark.parametrize("script", ["/on_create.sh", "", f"{SOURCE}/on_create.sh", "a" * 129])
    def test_names_it(self, script: str) -> None:
        assert of("HP5004", on_create=script) == [
            (
                f"HP5004 group 'p5' calls {script!r} | "
                "name the file below the source with 1 to 128 characters, such as on_create.sh"
            )
        ]

    @pytest.mark.parametrize("script", ["on_create.sh", "bin/on_create.sh", "a" * 128, UNKNOWN])
    def test_is_silent_on_names_below_the_source(self, script: Any) -> None:
        assert of("HP5004", on_create=script) == []


class TestScriptIsAmongTheFiles:
    def of(self, *names: str, script: Any = "on_create.sh") -> list[str]:
        return of("HP5005", on_create=script, files=tuple(ScriptFile(name=name) for name in names))

    def test_names_the_one_that_was_meant(self) -> None:
        assert self.of("on-create.sh", "README.md") == [
            (
                "HP5005 group 'p5' calls on_create.sh, which is not among its 2 files | "
                "call on-create.sh, or add on_create.sh to the directory"
            )
        ]

    def test_or_asks_for_the_file(self) -> None:
        (found,) = self.of()
        assert found.endswith("which is not among its 0 files | add on_create.sh to the directory")

    def test_is_silent_where_it_is_there(self) -> None:
        assert self.of("on_create.sh") == self.of("bin/start.sh", script="./bin/start.sh") == []

    def test_is_silent_on_unknown_names_and_files(self) -> None:
        assert self.of(script=UNKNOWN) == of("HP5005", files=None) == []


class TestScriptsHaveUnixLineEnds:
    def of(self, *broken: str, **fields: Any) -> list[str]:
        files = (ScriptFile(name="fine.sh"), *(ScriptFile(name=name, carriage_returns=True) for name in broken))
        return of("HP5006", files=files, **fields)

    def test_names_the_files(self) -> None:
        assert self.of("on_create.sh", "lib/helper") == [
            (
                "HP5006 group 'p5' has CR LF line ends in lib/helper, on_create.sh | "
                "save with LF line ends, and keep them with '* text eol=lf' in .gitattributes"
            )
        ]

    def test_the_script_itself_may_have_any_name(self) -> None:
        assert len(self.of("start.run", on_create="./start.run")) == 1

    def test_is_silent_on_files_that_no_shell_reads(self) -> None:
        assert self.of("README.md", "settings.json") == []

    def test_is_silent_where_the_files_are_not_known(self) -> None:
        assert of("HP5006", files=None) == []


class TestSlurmIsConfiguredOnce:
    def of(self, name: str = PARAMETERS.name, **fields: Any) -> list[str]:
        scripts = lifecycle(files=(ScriptFile(name="on_create.sh"), ScriptFile(name=name)))
        return told("HP5007", deployment(cluster(groups=(compute(lifecycle=scripts),), **fields)))

    def test_names_the_file(self) -> None:
        assert self.of() == [
            (
                "HP5007 group 'p5' has provisioning_parameters.json among its scripts, beside a SlurmConfig | "
                "delete provisioning_parameters.json, or move it out of the directory"
            )
        ]

    def test_a_node_type_is_a_slurm_config_too(self) -> None:
        assert len(self.of(orchestrator=None)) == 1

    def test_is_silent_without_the_file(self) -> None:
        assert self.of("provisioning.json") == []

    def test_is_silent_on_slurm_in_its_old_form(self) -> None:
        scripts = lifecycle(files=(PARAMETERS,))
        old = cluster(groups=(kubernetes(lifecycle=scripts),), orchestrator=None)
        assert told("HP5007", deployment(old)) == []

    def test_is_silent_where_it_is_not_known(self) -> None:
        scripts = lifecycle(files=(PARAMETERS,))
        unknown = cluster(groups=(compute(lifecycle=scripts, node_type=UNKNOWN),), orchestrator=UNKNOWN)
        assert told("HP5007", deployment(unknown)) == of("HP5007", files=None) == []


class TestLegacySlurmHasItsParameters:
    def of(self, *scripts: Any, **fields: Any) -> list[str]:
        groups = tuple(kubernetes(name=f"g{n}", lifecycle=each) for n, each in enumerate(scripts))
        return told("HP5008", deployment(cluster(**{"groups": groups, "orchestrator": None, **fields})))

    def test_nothing_says_who_is_the_controller(self) -> None:
        assert self.of(lifecycle(files=(ScriptFile(name="on_create.sh"),)), None) == [
            (
                "HP5008 no group has provisioning_parameters.json among its scripts, and no group says whether it is "
                "the controller | give every group a node type (SlurmConfig), or put provisioning_parameters.json "
                "beside "
                "the controller's scripts"
            )
        ]

    def test_is_silent_where_one_group_has_it(self) -> None:
        assert self.of(lifecycle(files=()), lifecycle(files=(PARAMETERS,))) == []

    def test_is_silent_where_groups_have_node_types(self) -> None:
        assert self.of(groups=(controller(lifecycle=lifecycle(files=())),)) == []

    def test_is_silent_on_eks(self) -> None:
        assert told("HP5008", deployment(eks_cluster(kubernetes(lifecycle=lifecycle(files=()))))) == []

    @pytest.mark.parametrize("unknown", [lifecycle(files=None), UNKNOWN])
    def test_is_silent_where_some_files_are_not_known(self, unknown: Any) -> None:
        assert self.of(lifecycle(files=()), unknown) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        assert self.of(lifecycle(files=()), orchestrator=UNKNOWN) == []

    def test_is_silent_on_a_cluster_without_scripts(self) -> None:
        assert self.of(None) == []


def statement(actions: Any, resources: Any = ("*",), **fields: Any) -> Statement:
    return Statement(**{"allow": True, "actions": actions, "resources": resources, **fields})


OBJECTS = statement(("s3:Get*",), ("arn:aws:s3:::acme-scripts/lcs/*",))
LISTING = statement(("s3:ListBucket",), ("arn:aws:s3:::acme-scripts",))


class Reading:
    """A group whose scripts lie in a bucket of another name, and its role."""

    rule: str

    def of(
        self, *statements: Statement, uri: Any = "s3://acme-scripts/lcs", role: Any = "Role", **fields: Any
    ) -> list[str]:
        policies = {"managed_policies": (NODE_POLICY,), "statements": statements}
        its = Role(path="Role", trusts=("sagemaker.amazonaws.com",), **{**policies, **fields})
        group = compute(lifecycle=lifecycle(source_uri=uri), execution_role=role)
        return told(self.rule, deployment(slurm_cluster(group), roles=(its,)))


class TestNodesCanReadTheirScripts(Reading):
    rule = "HP5009"

    def test_the_managed_policy_does_not_open_the_bucket(self) -> None:
        assert self.of() == [
            (
                "HP5009 role of group 'p5', whose scripts are at s3://acme-scripts/lcs, lacks "
                "s3:GetObject on acme-scripts/* and s3:ListBucket on acme-scripts | "
                "allow s3:GetObject on arn:aws:s3:::acme-scripts/* and s3:ListBucket on arn:aws:s3:::acme-scripts"
            )
        ]

    def test_get_object_on_the_bucket_opens_no_object(self) -> None:
        assert self.of(statement(("s3:GetObject", "s3:ListBucket"), ("arn:aws:s3:::acme-scripts",))) == [
            (
                "HP5009 role of group 'p5', whose scripts are at s3://acme-scripts/lcs, lacks s3:GetObject on "
                "acme-scripts/*; it has s3:GetObject on the bucket itself, which opens no object | "
                "allow s3:GetObject on arn:aws:s3:::acme-scripts/*"
            )
        ]

    @pytest.mark.parametrize(("buckets", "findings"), [(("acme-scripts",), 0), ((UNKNOWN,), 0), (("other",), 1)])
    def test_a_bucket_policy_may_grant_it(self, buckets: tuple[Any, ...], findings: int) -> None:
        its = Role(path="Role", trusts=("sagemaker.amazonaws.com",), managed_policies=(NODE_POLICY,))
        group = compute(lifecycle=lifecycle(source_uri="s3://acme-scripts/lcs"), execution_role="Role")
        judged = deployment(slurm_cluster(group), roles=(its,), granting_buckets=buckets)
        assert len(told("HP5009", judged)) == findings

    def test_another_bucket_does_not_count(self) -> None:
        assert len(self.of(LISTING, statement(("s3:GetObject",), ("arn:aws:s3:::acme-scripts-old/*",)))) == 1

    @pytest.mark.parametrize(
        "statements",
        [
            (OBJECTS, LISTING),
            (statement(("s3:*",)),),
            (statement(("S3:getobject", "s3:List*"), ("arn:aws:s3:::acme-*",), conditional=True),),
        ],
    )
    def test_is_silent_where_it_is_granted(self, statements: tuple[Statement, ...]) -> None:
        assert self.of(*statements) == []

    @pytest.mark.parametrize("uri", [SOURCE, "s3://sagemaker-*", "s3://*", "s3://acme-*", UNKNOWN, "nonsense"])
    def test_is_silent_on_buckets_that_are_open_or_unknown(self, uri: Any) -> None:
        assert self.of(uri=uri) == []

    @pytest.mark.parametrize("unknown", [UNKNOWN, (UNKNOWN,)])
    def test_is_silent_where_a_statement_is_not_known(self, unknown: Any) -> None:
        assert self.of(statement(unknown)) == self.of(statement(("s3:*",), unknown)) == []

    @pytest.mark.parametrize(
        "fields",
        [{"complete": False}, {"managed_policies": UNKNOWN}, {"managed_policies": ("AmazonS3ReadOnlyAccess",)}],
    )
    def test_is_silent_where_not_all_policies_are_known(self, fields: dict[str, Any]) -> None:
        assert self.of(**fields) == []

    @pytest.mark.parametrize("role", ["arn:aws:iam::111122223333:role/nodes", UNKNOWN, None])
    def test_is_silent_on_other_roles(self, role: Any) -> None:
        assert self.of(role=role) == []


class TestNodesMayReadTheirScripts(Reading):
    rule = "HP5010"

    def test_an_imported_role_must_be_looked_at(self) -> None:
        assert self.of(role="arn:aws:iam::111122223333:role/nodes") == [
            (
                "HP5010 group 'p5' has its scripts at s3://acme-scripts/lcs, and not all policies of its role "
                "arn:aws:iam::111122223333:role/nodes are known here | see that it has s3:GetObject on acme-scripts/* "
                "and s3:ListBucket on acme-scripts, or use a bucket that begins with sagemaker-"
            )
        ]

    def test_so_must_one_of_which_not_all_is_known(self) -> None:
        assert len(self.of(complete=False)) == 1

    def test_is_silent_where_the_grant_is_seen(self) -> None:
        assert self.of(OBJECTS, LISTING, complete=False) == []

    @pytest.mark.parametrize("role", ["Role", UNKNOWN, None])
    def test_is_silent_on_known_roles_and_on_those_decided_at_deploy(self, role: Any) -> None:
        assert self.of(role=role) == []

    @pytest.mark.parametrize("uri", [SOURCE, UNKNOWN])
    def test_is_silent_on_buckets_that_are_open_or_unknown(self, uri: Any) -> None:
        assert self.of(uri=uri, role="arn:role") == []


class TestSourceHasSingleSlashes:
    def test_names_what_was_meant(self) -> None:
        assert of("HP5011", source_uri="s3://sagemaker-x//lcs//base/") == [
            "HP5011 group 'p5' has its scripts at s3://sagemaker-x//lcs//base/ | use s3://sagemaker-x/lcs/base/"
        ]

    @pytest.mark.parametrize("uri", [SOURCE, SOURCE + "/", UNKNOWN, None])
    def test_is_silent_on_single_ones(self, uri: Any) -> None:
        assert of("HP5011", source_uri=uri) == []
