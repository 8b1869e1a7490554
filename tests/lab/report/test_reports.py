"""Every format is a function of the stored run, and says what happened."""

import json
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from assay.lab.error import InvalidOptions
from assay.lab.harness.run.run import BadRun, CellResult, dump_run, parse_run, run_schema
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.registry import formats, renderer
from assay.revisions.registry import REVISIONS
from tests.lab.runs import cell, finding, run_of
from tests.meta.tree import ROOT

FAILED = cell(
    "tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE), ("jsonrpc.version", Verdict.SUCCESS)
)
RUN = run_of(
    FAILED,
    cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS)),
    cell("tools.definitions", ("tools.input-schema", Verdict.WARNING)),
    cell("http.ended-session", outcome=Outcome.NOT_APPLICABLE),
    cell("jsonrpc.notifications", ("jsonrpc.silent-notifications", Verdict.SKIPPED), broke_off=True),
    stale=["gone"],
)


def test_formats_are_listed() -> None:
    assert {"json", "junit", "markdown", "matrix", "sarif", "text"} <= set(formats())
    with pytest.raises(InvalidOptions):
        renderer("registry")


@pytest.mark.parametrize("name", ["text", "markdown", "junit", "json", "sarif"])
def test_every_format_shows_requirement_expected_observed_and_frames(name: str) -> None:
    report = renderer(name)(RUN)
    for words in ("tools.unknown-name", "TL-19", "this", "that"):
        assert words in report
    assert report.endswith("\n")


def test_text_ends_with_the_conclusion_and_has_a_command_to_reproduce() -> None:
    report = renderer("text")(RUN)
    assert report.splitlines()[-1].startswith("does not conform: 1 passed, 1 passed with warnings, 1 failed")
    assert "  repeat    printf %s x | server" in report
    assert "→ #0 1/lines line" in report
    assert "incomplete: jsonrpc.notifications (stdio): a reason" in report
    assert "stale in the baseline: gone" in report


def broken(requirement: str, level: str, *observed: str) -> CellResult:
    """A scenario in which one check found one requirement broken."""
    findings = [
        msgspec.structs.replace(finding(text), requirement=requirement, level=level) for text in observed
    ]
    result = cell("tools.definitions", (f"tools.{requirement.lower()}", Verdict.FAILURE))
    (check,) = result.checks
    return msgspec.structs.replace(result, checks=[msgspec.structs.replace(check, findings=findings)])


def test_text_shows_a_broken_requirement_once() -> None:
    report = renderer("text")(run_of(broken("TL-01", "MUST", "a", "b", "c", "d", "e"))).splitlines()
    assert sum(line.startswith("FAILURE") for line in report) == 1
    assert [line for line in report if line.startswith("  also")] == [
        "  also      b",
        "  also      c",
        "  also      d",
        "  also      1 more",
    ]


@pytest.mark.parametrize("name", ["text", "markdown", "junit", "sarif", "html"])
def test_title_of_a_finding_is_the_fault(name: str) -> None:
    assert "A fault" in renderer(name)(RUN)


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_reports_for_people_say_the_same(name: str) -> None:
    report = renderer(name)(RUN)
    for words in ("Do this instead", "https://modelcontextprotocol.io/specification", "printf %s x | server"):
        assert words in report


def test_places_of_a_defect_are_listed_by_scenario_with_all_revisions() -> None:
    dates = [revision.date for revision in REVISIONS]
    cells = [msgspec.structs.replace(FAILED, revision=date) for date in dates]
    report = " ".join(renderer("text")(run_of(*cells)).split())
    assert report.count("FAILURE") == 2  # the title, and the number of checks
    assert f"tools.unknown-name (stdio {', '.join(dates)})" in report


def test_prose_fits_eighty_columns() -> None:
    long = msgspec.structs.replace(finding("word " * 60), fix="word " * 40)
    (check,) = cell("a.b", ("c.d", Verdict.FAILURE)).checks
    checks = [msgspec.structs.replace(check, findings=[long])]
    lines = renderer("text")(run_of(msgspec.structs.replace(FAILED, checks=checks))).splitlines()
    assert max(len(line) for line in lines if "word" in line) <= 80


@pytest.mark.parametrize("name", ["text", "markdown", "sarif", "html"])
def test_finding_without_a_title_has_that_of_its_check(name: str) -> None:
    (check, *_) = FAILED.checks
    untitled = msgspec.structs.replace(check, findings=[msgspec.structs.replace(finding(), title="")])
    run = run_of(msgspec.structs.replace(FAILED, checks=[untitled]))
    assert f"title of {check.id}" in renderer(name)(run)


def test_text_shows_failures_before_warnings() -> None:
    report = renderer("text")(run_of(broken("TL-02", "SHOULD", "a"), broken("TL-01", "MUST", "a")))
    assert report.index("FAILURE tools.tl-01") < report.index("WARNING tools.tl-02")


def test_stored_run_fits_its_published_schema() -> None:
    published = json.loads((ROOT / "docs" / "run.schema.json").read_text("utf-8"))
    assert published == run_schema()
    jsonschema_rs.validator_for(published).validate(json.loads(dump_run(RUN)))
    assert parse_run(dump_run(RUN)) == RUN


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"format":1}', dump_run(run_of()).replace(b": 2,", b": 9,", 1)]
)
def test_other_data_is_refused(data: bytes) -> None:
    with pytest.raises(BadRun):
        parse_run(data)


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_flaky_scenarios_are_listed(name: str) -> None:
    again = cell("tools.unknown-name", ("tools.unknown-name", Verdict.SUCCESS), attempt=2)
    (line,) = [line for line in renderer(name)(run_of(FAILED, again)).splitlines() if "flaky" in line]
    assert "tools.unknown-name" in line and FAILED.revision in line


def test_report_is_the_same_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(dump_run(RUN))
    assert renderer("text")(parse_run(path.read_bytes())) == renderer("text")(RUN)


def test_matrix_separates_long_names_from_their_counts() -> None:
    name = "input-required-result-basic"
    lines = renderer("matrix")(run_of(cell(name, (name, Verdict.SUCCESS)))).splitlines()
    assert any(line.startswith(f"{name}  1 of 1") for line in lines)


def test_matrix_counts_by_place_and_by_area() -> None:
    lines = renderer("matrix")(RUN).splitlines()
    assert lines[0].split() == ["passed", "stdio"]
    assert lines[1].startswith(FAILED.revision) and lines[1].endswith("2 of 4 1 FAILED")
    assert "tools         1 of 2 1 FAILED" in lines
    assert "http          -" in lines
    assert lines[-1].startswith("does not conform: ")
