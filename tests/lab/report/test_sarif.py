"""SARIF for code scanning, validated by its schema and read by another parser."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import sarif_pydantic  # type: ignore[import-untyped]
from msgspec.structs import replace

from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report import sarif
from assay.lab.report.registry import renderer
from tests.lab.runs import cell, finding, run_of

render = renderer("sarif")
SCHEMA = jsonschema_rs.validator_for(
    json.loads((Path(__file__).parent / "sarif.schema.json").read_text("utf-8")), validate_formats=True
)
TRACE = "../server-tools-unknown-name-2000-01-01T00-00-00-000Z/trace-stdio.ndjson"
FAILED = cell(
    "tools.unknown-name",
    ("tools.unknown-name", Verdict.FAILURE),
    ("jsonrpc.version", Verdict.SUCCESS),
    trace=TRACE,
)
RUN = run_of(
    FAILED,
    cell("jsonrpc.notifications", ("jsonrpc.silent", Verdict.SKIPPED), broke_off=True),
    cell("http.ended-session", outcome=Outcome.NOT_APPLICABLE),
    stale=["gone"],
)


def only_run(run: Run) -> dict[str, Any]:
    (only,) = json.loads(render(run))["runs"]
    return dict(only)


def with_observed(text: str) -> CellResult:
    check = FAILED.checks[0]
    return replace(FAILED, checks=[replace(check, findings=[replace(check.findings[0], observed=text)])])


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        run_of(),
        run_of(replace(FAILED, trace="")),
        run_of(replace(FAILED, trace="/somewhere else/trace.ndjson")),
        run_of(with_observed("x" * 100_000)),
        run_of(with_observed("\ud800 \x00")),
        replace(RUN, strict=True, interrupted=True, expected=["tools-*"]),
    ],
)
def test_it_is_valid(run: Run) -> None:
    SCHEMA.validate(json.loads(render(run)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), "2.0.0"),
        (("runs", 0, "results", 0, "locations"), []),
        (("runs", 0, "results", 0, "level"), "FAILURE"),
        (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"), "/a"),
        (("runs", 0, "tool", "driver", "rules", 0, "helpUri"), "not a link"),
    ],
)
def test_the_schema_rejects_invalid_reports(path: tuple[str | int, ...], value: object) -> None:
    log = json.loads(render(RUN))
    inside = log
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    assert not SCHEMA.is_valid(log)


def test_another_parser_reads_the_report() -> None:
    (run,) = sarif_pydantic.Sarif.model_validate_json(render(RUN)).runs
    (result,) = run.results or []
    (rule,) = run.tool.driver.rules or []
    assert (run.tool.driver.name, result.rule_id, result.level) == ("Assay", "TL-19", "error")
    assert rule.full_description is not None and rule.full_description.text == "A rule"
    assert str(rule.help_uri).startswith("https://modelcontextprotocol.io/specification/")
    (invocation,) = run.invocations or []
    assert not invocation.execution_successful or run.results


def test_result_has_expected_observed_and_a_command_to_reproduce() -> None:
    (result,) = only_run(RUN)["results"]
    lines = result["message"]["text"].splitlines()
    assert lines[0] == "A fault (tools.unknown-name)"
    assert {"expected: this", "observed: that", "reproduce: printf %s x | server"} <= set(lines)
    assert result["properties"]["check"] == "tools.unknown-name"


def test_first_location_is_stable_and_the_others_point_to_the_frames() -> None:
    (result,) = only_run(RUN)["results"]
    first = result["locations"][0]["physicalLocation"]
    assert first == {
        "artifactLocation": {"uri": "tools-unknown-name/trace-stdio.ndjson"},
        "region": {"startLine": 2},
    }
    stored = result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]
    assert stored == {"uri": TRACE.removeprefix("../"), "uriBaseId": "RESULTS"}
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [2, 3]


def test_fingerprints_do_not_depend_on_texts_of_a_server_or_on_the_time() -> None:
    later = replace(with_observed("id 4712"), trace=TRACE.replace("2000", "2001"))
    (first,), (second,) = (only_run(run_of(each))["results"] for each in (with_observed("id 4711"), later))
    assert first["partialFingerprints"] == second["partialFingerprints"]
    assert first["locations"] == second["locations"]


def test_one_defect_in_many_places_is_one_result() -> None:
    places = [replace(FAILED, transport=transport) for transport in ("stdio", "http", "ws")]
    (result,) = only_run(run_of(*places))["results"]
    assert result["occurrenceCount"] == 3
    assert [location["id"] for location in result["relatedLocations"]] == [1, 2, 3]


def test_a_should_is_a_warning_unless_the_run_is_strict() -> None:
    check = FAILED.checks[0]
    should = replace(FAILED, checks=[replace(check, findings=[replace(finding(), level="SHOULD")])])
    levels = [only_run(run_of(should, strict=strict))["results"][0]["level"] for strict in (False, True)]
    assert levels == ["warning", "error"]


def test_findings_that_the_baseline_expects_are_suppressed() -> None:
    (result,) = only_run(replace(RUN, expected=["tools-*"]))["results"]
    assert result["suppressions"][0]["kind"] == "external"
    assert "suppressions" not in only_run(RUN)["results"][0]


def test_text_of_a_server_is_not_a_link() -> None:
    (result,) = only_run(run_of(with_observed("[click](https://evil.example) [1](1)")))["results"]
    assert "](" not in result["message"]["text"]


def test_broken_off_and_stale_are_notifications() -> None:
    (invocation,) = only_run(RUN)["invocations"]
    texts = [notification["message"]["text"] for notification in invocation["toolExecutionNotifications"]]
    assert any("jsonrpc.notifications" in text and "a reason" in text for text in texts)
    assert "stale in the baseline: gone" in texts
    assert only_run(replace(RUN, interrupted=True))["invocations"][0]["executionSuccessful"] is False


def test_results_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST", 1)
    two = run_of(FAILED, cell("a.b", ("c.d", Verdict.FAILURE)))
    run = only_run(two)
    assert len(run["results"]) == 1
    assert "1 more" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
