"""What is said of lifecycle scripts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from hyperpod_constructs.model.routing import Association, Route, RouteTable, Routing
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, eks_cluster, kubernetes, login, slurm_cluster, told
from tests.rules.scripts import SOURCE, lifecycle, of


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
                "HP5001 both OnCreate on_create.sh and OnInitComplete extend.sh for group 'p5' | keep "
                "OnInitComplete, which runs after HyperPod's own provisioning (LifecycleScripts.extended), or "
                "OnCreate, which replaces it (LifecycleScripts.custom)"
            )
        ]

    @pytest.mark.parametrize("other", [None, UNKNOWN])
    def test_is_silent_on_one(self, other: Any) -> None:
        assert of("HP5001", on_init_complete=other) == of("HP5001", on_create=other, on_init_complete="x.sh") == []


class TestLifecycleIsWhole:
    def test_a_script_needs_a_source(self) -> None:
        assert of("HP5002", source_uri=None) == [
            (
                "HP5002 LifeCycleConfig of group 'p5' calls on_create.sh, but has no SourceS3Uri | give "
                "SourceS3Uri: s3://BUCKET/PREFIX, the folder in which the script lies"
            )
        ]

    def test_a_source_needs_a_script(self) -> None:
        assert of("HP5002", on_create=None) == [
            (
                f"HP5002 LifeCycleConfig of group 'p5' has SourceS3Uri {SOURCE}, but calls no script | "
                "name one as OnCreate or OnInitComplete, or leave the whole LifeCycleConfig out"
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


class TestSourceIsAnAddress:
    @pytest.mark.parametrize(
        ("uri", "fault", "fix"),
        [
            ("sagemaker-x/lcs", "it does not begin with s3://", "use s3://sagemaker-x/lcs"),
            ("http://x/lcs", "the service takes s3:// or https:// followed by a name", "use s3://BUCKET/PREFIX"),
            ("https:///lcs", "the service takes s3:// or https:// followed by a name", "use s3://BUCKET/PREFIX"),
            ("s3:///lcs", "the service takes s3:// or https:// followed by a name", "use s3://BUCKET/PREFIX"),
            (
                "s3://my scripts/lcs",
                "'my scripts' is no name of a bucket",
                "use s3://BUCKET/PREFIX, with the bucket's name as S3 shows it",
            ),
            (
                "s3://sagemaker-${AWS::Region}/lcs",
                "${AWS::Region} was not substituted",
                "write it with !Sub, in Python with an f-string and cdk.Aws.REGION",
            ),
            (
                "s3://sagemaker-$(AWS::AccountId)/lcs",
                "$(AWS::AccountId) was not substituted",
                "write it with !Sub, in Python with an f-string and cdk.Aws.ACCOUNT_ID",
            ),
        ],
    )
    def test_names_the_fault(self, uri: str, fault: str, fix: str) -> None:
        assert of("HP5003", source_uri=uri) == [f"HP5003 SourceS3Uri of group 'p5' is {uri!r}: {fault} | {fix}"]
        assert of("HP5025", source_uri=uri) == []

    def test_has_a_longest_length(self) -> None:
        longest = "s3://sagemaker-x/".ljust(1024, "a")
        assert of("HP5003", source_uri=longest) == []
        (said,) = of("HP5003", source_uri=longest + "a")
        assert said.endswith(": it has 1,025 characters | use s3://BUCKET/PREFIX with at most 1,024 characters")
        assert len(of("HP5003", source_uri="https://x/".ljust(1025, "a"))) == 1

    @pytest.mark.parametrize(
        "uri",
        [
            SOURCE,
            "s3://sagemaker-x",
            "s3://sagemaker-x/lcs/",
            "s3://sagemaker-*",
            "s3://*",
            "s3://Acme_Scripts/lcs",
            "s3://arn:aws:s3:us-west-2:111122223333:accesspoint/x",
            UNKNOWN,
        ],
    )
    def test_is_silent_on_what_the_service_takes_and_on_unknown_ones(self, uri: Any) -> None:
        assert of("HP5003", source_uri=uri) == []

    def test_leaves_https_to_a_warning(self) -> None:
        uri = "https://sagemaker-x.s3.us-west-2.amazonaws.com/lcs"
        assert of("HP5003", source_uri=uri) == []
        assert of("HP5012", source_uri=uri) == [f"HP5012 SourceS3Uri of group 'p5' is {uri} | use s3://BUCKET/PREFIX"]
        assert RULES["HP5012"].severity is Severity.WARNING
        assert of("HP5012") == of("HP5012", source_uri=UNKNOWN) == []

    def test_one_that_is_too_long_is_one_mistake(self) -> None:
        assert of("HP5012", source_uri="https://x/".ljust(1025, "a")) == []


class TestSourceIsLikely:
    @pytest.mark.parametrize("name", ["Acme_Scripts", "my_scripts", "scripts-", "a" * 64])
    def test_names_a_bucket_that_nobody_makes_today(self, name: str) -> None:
        assert of("HP5025", source_uri=f"s3://{name}/lcs") == [
            (
                f"HP5025 SourceS3Uri of group 'p5' is s3://{name}/lcs: buckets have no names such as {name!r} | use "
                "the bucket's name as S3 shows it: 3 to 63 lower-case letters, digits, dots and hyphens"
            )
        ]
        assert RULES["HP5025"].severity is Severity.WARNING

    def test_a_prefix_with_text_that_nobody_replaced(self) -> None:
        (said,) = of("HP5025", source_uri="s3://sagemaker-x/${AWS::StackName}/lcs")
        assert "/lcs: ${AWS::StackName} was not substituted | write it with !Sub, in Python with an f-string" in said

    @pytest.mark.parametrize(
        "uri",
        [SOURCE, "s3://sagemaker-*", "s3://*", "s3://*/lcs", "s3://<name of A.B>/lcs", UNKNOWN, None, "https://x"],
    )
    def test_is_silent_on_good_and_unknown_ones(self, uri: Any) -> None:
        assert of("HP5025", source_uri=uri) == []


class TestScriptsAreRelative:
    @pytest.mark.parametrize("script", ["/on_create.sh", "", f"{SOURCE}/on_create.sh", "a" * 129])
    def test_names_it(self, script: str) -> None:
        assert of("HP5004", on_create=script) == [
            (
                f"HP5004 the script of group 'p5' is called {script!r} | write the path of the file below SourceS3Uri, "
                "1 to 128 characters, such as on_create.sh"
            )
        ]
        assert of("HP5024", on_create=script) == []

    @pytest.mark.parametrize("script", ["on_create.sh", "bin/on_create.sh", "a" * 128, UNKNOWN])
    def test_is_silent_on_names_below_the_source(self, script: Any) -> None:
        assert of("HP5004", on_create=script) == []


class TestScriptsAreFiles:
    @pytest.mark.parametrize(
        ("script", "file"),
        [
            ("../on_create.sh", "on_create.sh"),
            ("on_create.sh --debug", "on_create.sh"),
            ("bash on_create.sh", "on_create.sh"),
            ("scripts\\on_create.sh", "scripts/on_create.sh"),
        ],
    )
    def test_a_command_or_a_path_of_another_kind_is_hardly_one(self, script: str, file: str) -> None:
        assert of("HP5024", on_create=script) == [
            (
                f"HP5024 the script of group 'p5' is called {script!r}, which is no path of a file below the source | "
                f"write the path alone, with slashes: {file}"
            )
        ]

    @pytest.mark.parametrize("uri", [f"{SOURCE}/on_create.sh", f"{SOURCE}/on_create.sh/"])
    def test_the_script_itself_is_hardly_the_source(self, uri: str) -> None:
        assert of("HP5024", source_uri=uri) == [
            (
                f"HP5024 SourceS3Uri of group 'p5' is {uri}, which looks like the script itself | write SourceS3Uri: "
                f"{SOURCE}, the folder, and the script as OnCreate or OnInitComplete: on_create.sh"
            )
        ]

    def test_is_a_warning_because_s3_takes_such_names(self) -> None:
        assert RULES["HP5024"].severity is Severity.WARNING

    def test_is_silent_where_the_files_are_at_hand(self) -> None:
        assert of("HP5024", on_create="bash a.sh", files=(ScriptFile(name="a.sh"),)) == []

    @pytest.mark.parametrize("script", ["on_create.sh", "bin/on_create.sh", "./a.sh", "a..b.sh", UNKNOWN, None])
    def test_is_silent_on_paths_below_the_source(self, script: Any) -> None:
        assert of("HP5024", on_create=script) == of("HP5024", source_uri="s3://my.sh", on_create=script) == []
        assert of("HP5024", source_uri=UNKNOWN, on_create=script) == []


class TestScriptIsAmongTheFiles:
    def of(self, *names: str, script: Any = "on_create.sh") -> list[str]:
        return of("HP5005", on_create=script, files=tuple(ScriptFile(name=name) for name in names))

    def test_names_the_one_that_was_meant(self) -> None:
        assert self.of("on-create.sh", "README.md") == [
            (
                "HP5005 on_create.sh, the script of group 'p5', is not among the 2 files of its folder | call "
                "on-create.sh, or add on_create.sh to the folder"
            )
        ]

    def test_or_asks_for_the_file(self) -> None:
        (found,) = self.of()
        assert found.endswith("is not among the 0 files of its folder | add on_create.sh to the folder")

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
                "HP5006 the scripts of group 'p5' have CR LF line ends in lib/helper, on_create.sh | save with LF "
                "line ends, and keep them with '* text eol=lf' in .gitattributes"
            )
        ]

    def test_the_script_itself_may_have_any_name(self) -> None:
        assert len(self.of("start.run", on_create="./start.run")) == 1

    def test_is_silent_on_files_that_no_shell_reads(self) -> None:
        assert self.of("README.md", "settings.json", "lib/tool.py") == []

    def test_is_told_once_of_groups_with_the_same_scripts(self) -> None:
        scripts = lifecycle(files=(ScriptFile(name="on_create.sh", carriage_returns=True),))
        groups = (compute(lifecycle=scripts), login(lifecycle=scripts))
        (found,) = RULES["HP5006"].findings(deployment(slurm_cluster(*groups)))
        assert found.path == "Train"
        assert found.message == "the scripts of groups 'p5' and 'login' have CR LF line ends in on_create.sh"

    def test_is_silent_where_the_files_are_not_known(self) -> None:
        assert of("HP5006", files=None) == []


class TestScriptsBeginWithTheirInterpreter:
    def test_a_byte_order_mark_hides_it(self) -> None:
        files = (
            ScriptFile(name="on_create.sh", byte_order_mark="UTF-8"),
            ScriptFile(name="a", byte_order_mark="UTF-16"),
        )
        assert of("HP5023", files=files) == [
            (
                "HP5023 the scripts of group 'p5' begin with a byte order mark: a (UTF-16), on_create.sh (UTF-8) | "
                "save as UTF-8 without BOM (in PowerShell: Set-Content -Encoding utf8NoBOM)"
            )
        ]

    def test_is_silent_without_one_and_where_the_files_are_not_known(self) -> None:
        assert of("HP5023", files=(ScriptFile(name="on_create.sh"),)) == of("HP5023", files=None) == []
        assert of("HP5023", files=(ScriptFile(name="tool.py", byte_order_mark="UTF-8"),)) == []


class TestSourceHasSingleSlashes:
    def test_names_what_was_meant(self) -> None:
        assert of("HP5011", source_uri="s3://sagemaker-x//lcs//base/") == [
            (
                "HP5011 SourceS3Uri of group 'p5' is s3://sagemaker-x//lcs//base/, in which a folder has no name | "
                "use s3://sagemaker-x/lcs/base/"
            )
        ]

    @pytest.mark.parametrize("uri", [SOURCE, SOURCE + "/", "https://sagemaker-x//lcs", "s3:////lcs", UNKNOWN, None])
    def test_is_silent_on_single_ones(self, uri: Any) -> None:
        assert of("HP5011", source_uri=uri) == []


class TestEksGroupsHaveScripts:
    def test_what_happens_without_is_not_described(self) -> None:
        (said,) = told("HP5016", deployment(eks_cluster(kubernetes(), kubernetes(name="p6"))))
        assert said.startswith("HP5016 no LifeCycleConfig in groups 'p5' and 'p6' | nothing, if it was tried")

    @pytest.mark.parametrize("scripts", [lifecycle(), UNKNOWN])
    def test_is_silent_on_scripts_and_unknown_ones(self, scripts: Any) -> None:
        assert told("HP5016", deployment(eks_cluster(kubernetes(lifecycle=scripts)))) == []

    def test_is_silent_on_slurm(self) -> None:
        assert told("HP5016", deployment(slurm_cluster(compute()))) == []


TABLE = RouteTable(path="Table")
CLOSED = Routing(tables=(TABLE,), associations=(Association(path="A", subnet="Net/Nodes", table="Table"),))


class TestClosedNetworksHaveClosedScripts:
    def of(self, routing: Routing, *fetches: str) -> list[str]:
        scripts = lifecycle(files=(ScriptFile(name="on_create.sh", fetches=fetches),))
        return told("HP5022", deployment(slurm_cluster(compute(lifecycle=scripts)), routing=routing))

    def test_nothing_answers_there(self) -> None:
        (said,) = self.of(CLOSED, "12: pip install", "14: curl https://example.com")
        assert said.startswith(
            "HP5022 the scripts of group 'p5' load from the internet, and their network has no way there: "
            "on_create.sh line 12: pip install and 1 more | "
        )

    def test_is_told_once_of_groups_with_the_same_scripts(self) -> None:
        scripts = lifecycle(files=(ScriptFile(name="on_create.sh", fetches=("12: pip install",)),))
        groups = (compute(lifecycle=scripts), login(lifecycle=scripts))
        (said,) = told("HP5022", deployment(slurm_cluster(*groups), routing=CLOSED))
        assert "the scripts of groups 'p5' and 'login' load" in said

    def test_is_silent_on_scripts_that_load_nothing(self) -> None:
        assert self.of(CLOSED) == []

    @pytest.mark.parametrize(
        "routing",
        [
            replace(CLOSED, routes=(Route(path="R", table="Table", way="nat"),)),
            replace(CLOSED, routes=(Route(path="R", table="Table", way=UNKNOWN),)),
            replace(CLOSED, tables=(replace(TABLE, complete=False),)),
            replace(CLOSED, associations=()),
            replace(CLOSED, undecided=("R",)),
        ],
    )
    def test_is_silent_where_there_is_or_may_be_a_way_out(self, routing: Routing) -> None:
        assert self.of(routing, "12: pip install") == []
