"""Certification of the reference server, and the page about public servers."""

from pathlib import Path

import msgspec
import pytest

from assay.certify.profile_list import MeasuredBy
from assay.certify.scoring import Measure
from assay.certify.summary import summarise
from assay.certify.summary_form import Summary
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.verdict import Verdict
from assay.lab.suites import suite_named
from interop.certified.__main__ import report_lines
from interop.certified.page import page
from interop.certified.proof import HTTP, STDIO, Proof, breaches_of
from interop.certified.public import NAMES, PAGE, TRACES, read_record
from interop.certified.reason import breaches, read_reasons
from interop.certified.record import CertifiedServer, UnmetDemand, certified_server
from interop.certified.workspace import Workspace
from interop.public.table import PublicServer, public_servers
from tests.certify.runs import CONTEXT, IDS, PROFILE, cell, checked, files, healthy, run
from tests.certify.test_summary import JUDGED
from tests.meta.tree import ROOT, expect_none

LARGEST = 160 * 1024
RECORD = read_record()
SERVERS = public_servers()
Evidence = tuple[str, str, str, str, tuple[str, ...]]
"""Demand, trace, expected, observed, excerpt."""
STORED = sorted(TRACES.rglob("*.ndjson"))


def stored_run(*verdicts: Verdict) -> Run:
    return run(*(cell(checked(IDS, verdict)) for verdict in verdicts))


def summary_of(*verdicts: Verdict) -> Summary:
    return summarise(files(stored_run(*verdicts)), CONTEXT, JUDGED, {})


def all_measured(transport: str) -> Summary:
    """Everything that the transport allows is measured and met."""
    summary = summarise(files(healthy()), CONTEXT, JUDGED, {})
    reach = {
        demand.id: demand.by is not MeasuredBy.LATER and transport in (demand.transports or [transport])
        for demand in PROFILE.demands
    }
    well = [
        msgspec.structs.replace(score, status=Verdict.SUCCESS, measure=Measure.MEASURED)
        if reach[score.id]
        else score
        for score in summary.checks
    ]
    return msgspec.structs.replace(summary, checks=well)


def public(*verdicts: Verdict, command: str = "assay certify") -> CertifiedServer:
    return certified_server("sqlite", command, summary_of(*verdicts), stored_run(*verdicts))


@pytest.mark.parametrize("transport", [STDIO, HTTP])
def test_what_cannot_be_measured_is_not_a_breach(transport: str) -> None:
    expect_none(breaches_of(all_measured(transport), transport))


def test_what_could_have_been_measured_and_was_not_is_a_breach() -> None:
    problems = list(breaches_of(all_measured(STDIO), HTTP))
    assert any(problem.startswith("not measured: CONF-SEC-04.no-token") for problem in problems)


@pytest.mark.parametrize("verdict", [Verdict.FAILURE, Verdict.WARNING])
def test_a_scored_demand_that_is_not_met_in_full_is_a_breach(verdict: Verdict) -> None:
    problems = [problem for problem in breaches_of(summary_of(verdict), STDIO) if IDS in problem]
    assert [problem.split(":")[0] for problem in problems] == [str(verdict)]
    assert "run/traces/jrpc.ids.ndjson#3" in problems[0]


def test_what_is_not_measured_is_reported_with_its_reason() -> None:
    lines = "\n".join(
        report_lines(Proof(STDIO, summary_of(Verdict.SUCCESS), 1.0, ("verified: it",), ("a breach",)))
    )
    assert "not measured, this version of Assay cannot measure it: CONF-TPT-01.stdio.no-network" in lines
    assert "  verified: it" in lines and "✗ a breach" in lines


def test_a_given_export_replaces_the_sample(tmp_path: Path) -> None:
    sample, given_export = (
        Workspace(tmp_path / "a", quick=True),
        Workspace(tmp_path / "b", quick=True, osv=tmp_path / "all.zip"),
    )
    sample.prepare()
    given_export.prepare()
    assert sample.export.is_file() and given_export.export == tmp_path / "all.zip"
    assert not (given_export.directory / "osv.json").exists()


def test_a_finding_at_several_places_is_listed_once_and_counted() -> None:
    (unmet,) = public(Verdict.FAILURE, Verdict.FAILURE).unmet
    assert (unmet.demand, unmet.count, len(unmet.findings)) == (IDS, 2, 1)
    assert (unmet.findings[0].trace, unmet.findings[0].frames) == ("jrpc.ids.ndjson", "3")


def test_a_finding_without_a_reason_and_a_reason_without_a_finding_are_reported() -> None:
    bad, good = public(Verdict.FAILURE), public(Verdict.SUCCESS)
    why = {("sqlite", IDS): "It is so."}
    assert list(breaches(why, [bad])) == [] == list(breaches({}, [good]))
    assert "has no reason" in next(breaches({}, [bad]))
    assert "has no finding" in next(breaches(why, [good]))


def test_text_of_a_server_is_not_markup() -> None:
    server = PublicServer("p", "SDK", ["x"], name="sqlite")
    written = page([public(Verdict.FAILURE)], {"sqlite": server}, {("sqlite", IDS): "It is so."})
    assert "<that>" not in written and "&lt;that>" in written
    assert "Why: It is so." in written


def test_the_page_says_what_the_record_says() -> None:
    assert PAGE.read_text("utf-8") == page(RECORD, SERVERS, read_reasons())


def test_one_server_of_each_kind_was_certified_at_its_pinned_version() -> None:
    assert [(result.server, result.version) for result in RECORD] == [
        (name, SERVERS[name].version()) for name in NAMES
    ]
    assert {result.transport for result in RECORD} == {STDIO, HTTP}


def test_every_finding_is_explained_and_every_explanation_is_of_a_finding() -> None:
    expect_none(breaches(read_reasons(), RECORD))


@pytest.mark.parametrize("result", RECORD, ids=lambda result: result.server)
def test_stored_traces_show_the_findings_again(result: CertifiedServer) -> None:
    traces = [(path.name, read_trace(path)) for path in STORED if path.parent.name == result.server]
    findings = {
        (check.id, judged.trace, finding.expected, finding.observed, tuple(finding.excerpt))
        for judged in rejudged([suite_named("marketplace")], traces).cells
        for check in judged.checks
        for finding in check.findings
    }
    expect_none(missing for unmet in result.unmet for missing in missing_findings(unmet, findings))


def missing_findings(unmet: UnmetDemand, findings: set[Evidence]) -> list[str]:
    keys = [
        (unmet.demand, finding.trace, finding.expected, finding.observed, tuple(finding.excerpt))
        for finding in unmet.findings
    ]
    return [f"{key} is not shown by its trace" for key in keys if key not in findings]


def test_every_stored_trace_is_small_and_needed() -> None:
    needed = {
        TRACES / result.server / finding.trace
        for result in RECORD
        for unmet in result.unmet
        for finding in unmet.findings
    }
    assert {*STORED} == needed
    assert all(path.stat().st_size <= LARGEST for path in STORED)


def test_no_stored_file_contains_a_path_of_a_machine() -> None:
    for path in [*STORED, PAGE]:
        text = path.read_text("utf-8")
        assert str(ROOT) not in text and f"{Path.home()}/" not in text, path
