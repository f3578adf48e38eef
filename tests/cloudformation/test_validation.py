import json
from pathlib import Path

import pytest

from hyperpod_constructs.cloudformation.validation import REPORT, ValidationReport, read_report
from hyperpod_constructs.errors import UnreadableTemplate

FIXTURES = Path(__file__).parent / "fixtures"


def report(folder: Path, found: object) -> ValidationReport:
    (folder / REPORT).write_text(json.dumps(found))
    read = read_report(folder)
    assert read is not None
    return read


def test_no_report(tmp_path: Path) -> None:
    assert read_report(tmp_path) is None


def test_a_refused_assembly(tmp_path: Path) -> None:
    read = report(tmp_path, json.loads((FIXTURES / "refused-report.json").read_text()))
    (plugin,) = read.plugins
    assert read.failed
    assert (plugin.plugin, plugin.version, plugin.conclusion) == ("HyperPod", "1", "failure")
    (violation,) = plugin.violations
    assert (violation.rule, violation.severity, violation.paths) == ("HP9", "error", ("Foundation/Topic",))
    assert violation.acknowledged_id is None


def test_what_was_acknowledged_does_not_refuse() -> None:
    read = read_report(FIXTURES / "weak")
    assert read is not None
    assert not read.failed
    found = [(v.acknowledged_id, v.acknowledged_at, v.reason) for v in read.plugins[0].suppressed]
    assert found == [
        ("HyperPod::HP3001", "Foundation/Topic", "construct reason"),
        ("HyperPod::HP3003", "", "app reason"),
    ]


def test_a_plugin_that_crashed_without_violations_failed(tmp_path: Path) -> None:
    crashed = {
        "pluginName": "P",
        "conclusion": "failure",
        "violations": [],
        "metadata": {"error": "Validation plugin 'P' failed: boom"},
    }
    read = report(tmp_path, {"pluginReports": [crashed]})
    assert read.failed
    assert read.plugins[0].error == "Validation plugin 'P' failed: boom"


def test_a_warning_of_a_successful_plugin_does_not_refuse(tmp_path: Path) -> None:
    warned = {"pluginName": "P", "conclusion": "success", "violations": [{"ruleName": "R", "severity": "warning"}]}
    assert not report(tmp_path, {"pluginReports": [warned]}).failed


def test_an_error_refuses_whatever_the_conclusion(tmp_path: Path) -> None:
    plugin = {"pluginName": "P", "conclusion": "success", "violations": [{"ruleName": "R", "severity": "error"}]}
    assert report(tmp_path, {"pluginReports": [plugin]}).failed


def test_the_plugins_own_severity_is_kept(tmp_path: Path) -> None:
    violation = {"ruleName": "R", "severity": "custom", "customSeverity": "HIGH"}
    plugin = {"pluginName": "P", "conclusion": "success", "violations": [violation]}
    assert report(tmp_path, {"pluginReports": [plugin]}).plugins[0].violations[0].severity == "HIGH"


@pytest.mark.parametrize("found", [{}, {"pluginReports": 5}, {"pluginReports": ["x"]}, {"pluginReports": [{}]}])
def test_a_report_of_another_form_is_no_clean_report(tmp_path: Path, found: object) -> None:
    with pytest.raises(UnreadableTemplate, match="is no validation report"):
        report(tmp_path, found)


def test_broken_json_is_no_clean_report(tmp_path: Path) -> None:
    (tmp_path / REPORT).write_text("{")
    with pytest.raises(UnreadableTemplate, match="is no JSON"):
        read_report(tmp_path)
