"""Certified servers: what must hold of our own, and what the page says of those that nobody here wrote."""

from pathlib import Path

import msgspec
import pytest

from assay.certify.profile_list import INTELGRAPH, By, shipped
from assay.certify.scoring import Measure
from assay.certify.summary import summarise
from assay.certify.summary_form import Summary
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.verdict import Verdict
from assay.lab.suites import suite_named
from interop.certified.__main__ import told
from interop.certified.page import page
from interop.certified.proof import HTTP, STDIO, Proof, breaches_of
from interop.certified.public import NAMES, PAGE, TRACES, read_record
from interop.certified.reason import breaches, read_reasons
from interop.certified.record import Certified, Found, certified
from interop.certified.scene import Scene
from interop.public.table import PublicServer, public_servers
from tests.certify.runs import IDS, OCCASION, cell, checked, files, healthy, run
from tests.certify.test_summary import SHOWN
from tests.meta.tree import ROOT, expect_none

LARGEST = 160 * 1024
RECORD = read_record()
SERVERS = public_servers()
Shown = tuple[str, str, str, str, tuple[str, ...]]
"""Demand, trace, expected, observed, excerpt."""
KEPT = sorted(TRACES.rglob("*.ndjson"))


def summary_of(*verdicts: Verdict) -> Summary:
    found = run(*(cell(checked(IDS, verdict)) for verdict in verdicts))
    return summarise(files(found), OCCASION, SHOWN, {})


def all_measured(transport: str) -> Summary:
    """Whatever can be measured there is, and is well."""
    made = summarise(files(healthy()), OCCASION, SHOWN, {})
    reach = {
        one.id: one.by is not By.LATER and transport in (one.transports or [transport])
        for one in shipped(INTELGRAPH).demands
    }
    well = [
        msgspec.structs.replace(one, status=Verdict.SUCCESS, measure=Measure.MEASURED)
        if reach[one.id]
        else one
        for one in made.checks
    ]
    return msgspec.structs.replace(made, checks=well)


def public(*verdicts: Verdict, command: str = "assay certify") -> Certified:
    return certified("sqlite", command, summary_of(*verdicts))


@pytest.mark.parametrize("transport", [STDIO, HTTP])
def test_what_nobody_can_measure_there_is_no_breach(transport: str) -> None:
    expect_none(breaches_of(all_measured(transport), transport))


def test_what_could_have_been_measured_and_was_not_is_a_breach() -> None:
    found = list(breaches_of(all_measured(STDIO), HTTP))
    assert any(one.startswith("not measured: CONF-SEC-04.no-token") for one in found)


@pytest.mark.parametrize("verdict", [Verdict.FAILURE, Verdict.WARNING])
def test_a_scored_demand_that_is_not_met_in_full_is_a_breach(verdict: Verdict) -> None:
    found = [one for one in breaches_of(summary_of(verdict), STDIO) if IDS in one]
    assert [one.split(":")[0] for one in found] == [str(verdict)]
    assert "run/traces/jrpc.ids.ndjson#3" in found[0]


def test_what_is_not_measured_is_told_with_its_reason() -> None:
    lines = "\n".join(told(Proof(STDIO, summary_of(Verdict.SUCCESS), 1.0, ("verified: it",), ("a breach",))))
    assert "not measured, this version of Assay does not measure it: CONF-TPT-01.stdio.no-network" in lines
    assert "  verified: it" in lines and "✗ a breach" in lines


def test_an_export_of_ones_own_takes_the_place_of_the_one_that_is_made_up(tmp_path: Path) -> None:
    made_up, own = (
        Scene(tmp_path / "a", quick=True),
        Scene(tmp_path / "b", quick=True, osv=tmp_path / "all.zip"),
    )
    made_up.prepare()
    own.prepare()
    assert made_up.export.is_file() and own.export == tmp_path / "all.zip"
    assert not (own.directory / "osv.json").exists()


def test_a_finding_at_several_places_is_told_once_and_counted() -> None:
    (found,) = public(Verdict.FAILURE, Verdict.FAILURE).found
    assert (found.demand, found.count, len(found.findings)) == (IDS, 2, 1)
    assert (found.findings[0].trace, found.findings[0].frames) == ("jrpc.ids.ndjson", "3")


def test_a_finding_without_a_reason_and_a_reason_without_a_finding_are_told() -> None:
    bad, good = public(Verdict.FAILURE), public(Verdict.SUCCESS)
    why = {("sqlite", IDS): "It is so."}
    assert list(breaches(why, [bad])) == [] == list(breaches({}, [good]))
    assert "nobody has written why" in next(breaches({}, [bad]))
    assert "was not found" in next(breaches(why, [good]))


def test_what_a_server_said_is_no_markup_of_the_page() -> None:
    server = PublicServer("p", "SDK", ["x"], name="sqlite")
    written = page([public(Verdict.FAILURE)], {"sqlite": server}, {("sqlite", IDS): "It is so."})
    assert "<that>" not in written and "&lt;that>" in written
    assert "True because: It is so." in written


def test_the_page_says_what_the_record_says() -> None:
    assert PAGE.read_text("utf-8") == page(RECORD, SERVERS, read_reasons())


def test_one_server_of_each_kind_was_certified_at_its_pinned_version() -> None:
    assert [(one.server, one.version) for one in RECORD] == [
        (name, SERVERS[name].version()) for name in NAMES
    ]
    assert {one.transport for one in RECORD} == {STDIO, HTTP}


def test_every_finding_is_explained_and_every_explanation_is_of_a_finding() -> None:
    expect_none(breaches(read_reasons(), RECORD))


@pytest.mark.parametrize("one", RECORD, ids=lambda one: one.server)
def test_kept_traces_show_again_what_was_found(one: Certified) -> None:
    kept = [(path.name, read_trace(path)) for path in KEPT if path.parent.name == one.server]
    shown = {
        (check.id, result.trace, finding.expected, finding.observed, tuple(finding.excerpt))
        for result in rejudged([suite_named("marketplace")], kept).cells
        for check in result.checks
        for finding in check.findings
    }
    expect_none(missing for found in one.found for missing in unseen(found, shown))


def unseen(found: Found, shown: set[Shown]) -> list[str]:
    keys = [
        (found.demand, one.trace, one.expected, one.observed, tuple(one.excerpt)) for one in found.findings
    ]
    return [f"{key} is not shown by its trace" for key in keys if key not in shown]


def test_every_kept_trace_is_small_and_proves_something() -> None:
    needed = {
        TRACES / one.server / each.trace for one in RECORD for found in one.found for each in found.findings
    }
    assert {*KEPT} == needed
    assert all(path.stat().st_size <= LARGEST for path in KEPT)


def test_nothing_that_is_kept_names_a_place_on_a_machine() -> None:
    for path in [*KEPT, PAGE]:
        text = path.read_text("utf-8")
        assert str(ROOT) not in text and f"{Path.home()}/" not in text, path
