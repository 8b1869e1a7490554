"""JUnit XML, validated by the usual schema and read by another parser."""

from pathlib import Path
from xml.etree import ElementTree as tree

import junitparser
import pytest
import xmlschema
from msgspec.structs import replace

from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.junit import render
from tests.lab.runs import cell, run_of

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")
FAILED = cell(
    "tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE), ("jsonrpc.version", Verdict.SUCCESS)
)
BROKE_OFF = cell("jsonrpc.notifications", ("jsonrpc.silent", Verdict.SKIPPED), broke_off=True)
DIED = cell("lifecycle.ping", outcome=Outcome.INCOMPLETE, broke_off=True)
RUN = run_of(
    FAILED,
    BROKE_OFF,
    cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS), attempt=2),
    cell("tools.definitions", ("tools.input-schema", Verdict.WARNING)),
    cell("http.ended-session", outcome=Outcome.NOT_APPLICABLE),
)


@pytest.mark.parametrize(
    "run", [RUN, run_of(), run_of(DIED), replace(RUN, strict=True), replace(RUN, expected=["tools-*"])]
)
def test_it_is_valid(run: Run) -> None:
    SCHEMA.validate(render(run))


@pytest.mark.parametrize(
    "broken",
    [
        '<testsuites><testsuite name="a"/></testsuites>',
        '<testsuites><testsuite name="a" tests="many"/></testsuites>',
        '<testsuites skipped="1"/>',
        '<testsuites><testsuite name="a" tests="0"><result/></testsuite></testsuites>',
    ],
)
def test_the_schema_rejects_invalid_reports(broken: str) -> None:
    assert not SCHEMA.is_valid(broken)


def test_another_parser_reads_the_report() -> None:
    suites = junitparser.JUnitXml.fromstring(render(RUN).encode())
    assert (suites.tests, suites.failures, suites.errors) == (7, 1, 1)
    cases = {(suite.name.partition(" ")[0], case.name): case for suite in suites for case in suite}
    (failure,) = cases["tools.unknown-name", "tools.unknown-name"].result
    assert isinstance(failure, junitparser.Failure)
    assert failure.type == "TL-19"
    assert "expected this; observed that" in failure.message
    assert "← #1 1/lines line: nothing" in failure.text
    (skipped,) = cases["http.ended-session", "title of http.ended-session"].result
    assert isinstance(skipped, junitparser.Skipped)
    (error,) = cases["jsonrpc.notifications", "the scenario reaches its end"].result
    assert isinstance(error, junitparser.Error)
    assert cases["lifecycle.ping", "lifecycle.ping"].is_passed


def test_counts_match_the_cases() -> None:
    root = tree.fromstring(render(RUN))
    for suite in (root, *root):
        for kind, key in (("failure", "failures"), ("error", "errors"), ("testcase", "tests")):
            assert int(suite.attrib[key]) == len(list(suite.iter(kind)))


def test_a_run_without_scenarios_is_an_error() -> None:
    (suite,) = tree.fromstring(render(run_of()))
    assert suite.get("errors") == suite.get("tests") == "1"
    (error,) = suite.iter("error")
    assert error.get("message") == "incomplete: nothing was judged"


def test_baseline_excuses_and_warnings_count_only_when_strict() -> None:
    def failures(run: Run) -> str:
        return tree.fromstring(render(run)).attrib["failures"]

    warned = cell("a.b", ("c.d", Verdict.WARNING))
    assert failures(run_of(FAILED, expected=["tools-unknown-name"])) == "0"
    assert failures(run_of(warned)) == "0"
    assert failures(run_of(warned, strict=True)) == "1"


@pytest.mark.parametrize("odd", ["\x00\x1b[31m", "\ud800", "]]>", "<x>&", "￿"])
def test_text_of_a_server_cannot_break_the_xml(odd: str) -> None:
    check = FAILED.checks[0]
    finding = replace(check.findings[0], observed=f"a{odd}b")
    run = run_of(replace(FAILED, checks=[replace(check, findings=[finding])], reason=odd))
    assert tree.fromstring(render(run)).attrib["failures"] == "1"
