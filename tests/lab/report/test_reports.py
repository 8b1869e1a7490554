"""Every format is a function of the stored run, and says what happened."""

import json
from pathlib import Path
from xml.etree import ElementTree as tree

import jsonschema_rs
import pytest

from assay.lab.harness.run import BadRun, dump_run, parse_run, run_schema
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.registry import formats, renderer
from tests.lab.runs import cell, run_of
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
    assert {"json", "junit", "markdown", "text"} <= set(formats())
    with pytest.raises(KeyError):
        renderer("registry")


@pytest.mark.parametrize("name", ["text", "markdown", "junit", "json"])
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
    assert "incomplete: jsonrpc.notifications (1 of its places): a reason" in shown
    assert "stale in the baseline: gone" in shown


def test_stored_run_fits_its_published_schema() -> None:
    published = json.loads((ROOT / "docs" / "run.schema.json").read_text("utf-8"))
    assert published == run_schema()
    jsonschema_rs.validator_for(published).validate(json.loads(dump_run(RUN)))
    assert parse_run(dump_run(RUN)) == RUN


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"format":1}', dump_run(run_of()).replace(b": 1,", b": 9,", 1)]
)
def test_what_is_no_stored_run_is_refused(data: bytes) -> None:
    with pytest.raises(BadRun):
        parse_run(data)


JUNIT_SCHEMA = {
    "testsuites": ({"name", "time", "tests", "failures", "errors", "skipped"}, {"testsuite"}),
    "testsuite": ({"name", "time", "timestamp", "tests", "failures", "errors", "skipped"}, {"testcase"}),
    "testcase": ({"name", "classname", "time"}, {"failure", "error", "skipped", "system-out"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"message"}, set()),
    "system-out": (set(), set()),
}
"""Elements with their attributes and children, as the schema that Jenkins publishes allows them."""


def test_junit_has_only_what_readers_know() -> None:
    root = tree.fromstring(renderer("junit")(RUN))
    for element in root.iter():
        attributes, children = JUNIT_SCHEMA[element.tag]
        assert set(element.attrib) == attributes
        assert {child.tag for child in element} <= children


def test_junit_counts_what_it_holds() -> None:
    root = tree.fromstring(renderer("junit")(RUN))
    for kind, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(root.attrib[key]) == len(list(root.iter(kind)))
    assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "1")
    assert int(root.attrib["tests"]) == len(list(root.iter("testcase")))


def test_junit_excuses_what_the_baseline_expects_and_holds_warnings_only_when_strict() -> None:
    root = tree.fromstring(renderer("junit")(run_of(FAILED, expected=["tools-unknown-name"])))
    assert root.attrib["failures"] == "0"
    warned = cell("a.b", ("c.d", Verdict.WARNING))
    assert tree.fromstring(renderer("junit")(run_of(warned))).attrib["failures"] == "0"
    assert tree.fromstring(renderer("junit")(run_of(warned, strict=True))).attrib["failures"] == "1"


@pytest.mark.parametrize("odd", ["\x00\x1b[31m", "\ud800", "]]>", "<x>&", "￿"])
def test_junit_stays_xml_whatever_a_server_said(odd: str) -> None:
    from msgspec.structs import replace

    check = FAILED.checks[0]
    finding = replace(check.findings[0], observed=f"a{odd}b")
    run = run_of(replace(FAILED, checks=[replace(check, findings=[finding])], reason=odd))
    assert tree.fromstring(renderer("junit")(run)).attrib["failures"] == "1"


def test_markdown_begins_with_the_conclusion_and_a_table_by_area() -> None:
    lines = renderer("markdown")(RUN).splitlines()
    assert lines[0].startswith("## does not conform")
    assert "| tools | 1 failed, 1 passed with warnings |" in lines


def test_report_is_the_same_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(dump_run(RUN))
    assert renderer("text")(parse_run(path.read_bytes())) == renderer("text")(RUN)
