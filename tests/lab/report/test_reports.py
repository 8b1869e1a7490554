"""Every format is a function of the stored run, and says what happened."""

import json
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from assay.lab.harness.run.run import BadRun, CellResult, dump_run, parse_run, run_schema
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.registry import formats, renderer
from tests.lab.runs import REVISION, cell, finding, run_of
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


def test_the_formats_are_found() -> None:
    assert {"json", "junit", "markdown", "matrix", "sarif", "text"} <= set(formats())
    with pytest.raises(KeyError):
        renderer("registry")


@pytest.mark.parametrize("name", ["text", "markdown", "junit", "json", "sarif"])
def test_every_format_shows_requirement_expected_observed_and_frames(name: str) -> None:
    shown = renderer(name)(RUN)
    for words in ("tools.unknown-name", "TL-19", "this", "that"):
        assert words in shown
    assert shown.endswith("\n")


def test_text_ends_with_the_conclusion_and_shows_how_to_see_it_again() -> None:
    shown = renderer("text")(RUN)
    assert shown.splitlines()[-1].startswith("does not conform: 1 passed, 1 passed with warnings, 1 failed")
    assert "  again     printf %s x | server" in shown
    assert "→ #0 1/lines line" in shown
    assert f"incomplete: jsonrpc.notifications (stdio {REVISION}): a reason" in shown
    assert "stale in the baseline: gone" in shown


def broken(requirement: str, level: str, *observed: str) -> CellResult:
    """A scenario in which one check found one requirement broken."""
    found = [
        msgspec.structs.replace(finding(seen), requirement=requirement, level=level) for seen in observed
    ]
    made = cell("tools.definitions", (f"tools.{requirement.lower()}", Verdict.FAILURE))
    (check,) = made.checks
    return msgspec.structs.replace(made, checks=[msgspec.structs.replace(check, findings=found)])


def test_text_shows_a_requirement_once_however_it_was_broken() -> None:
    shown = renderer("text")(run_of(broken("TL-01", "MUST", "a", "b", "c", "d", "e"))).splitlines()
    assert sum(line.startswith("FAILURE") for line in shown) == 1
    assert [line for line in shown if line.startswith("  also")] == [
        "  also      b",
        "  also      c",
        "  also      d",
        "  also      1 more",
    ]


def test_text_shows_failures_before_warnings() -> None:
    shown = renderer("text")(run_of(broken("TL-02", "SHOULD", "a"), broken("TL-01", "MUST", "a")))
    assert shown.index("FAILURE tools.tl-01") < shown.index("WARNING tools.tl-02")


def test_stored_run_fits_its_published_schema() -> None:
    published = json.loads((ROOT / "docs" / "run.schema.json").read_text("utf-8"))
    assert published == run_schema()
    jsonschema_rs.validator_for(published).validate(json.loads(dump_run(RUN)))
    assert parse_run(dump_run(RUN)) == RUN


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"format":1}', dump_run(run_of()).replace(b": 2,", b": 9,", 1)]
)
def test_what_is_no_stored_run_is_refused(data: bytes) -> None:
    with pytest.raises(BadRun):
        parse_run(data)


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_what_came_out_differently_when_repeated_is_told(name: str) -> None:
    again = cell("tools.unknown-name", ("tools.unknown-name", Verdict.SUCCESS), attempt=2)
    (line,) = [line for line in renderer(name)(run_of(FAILED, again)).splitlines() if "flaky" in line]
    assert "tools.unknown-name" in line and FAILED.revision in line


def test_report_is_the_same_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(dump_run(RUN))
    assert renderer("text")(parse_run(path.read_bytes())) == renderer("text")(RUN)


def test_matrix_keeps_long_names_apart_from_their_counts() -> None:
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
