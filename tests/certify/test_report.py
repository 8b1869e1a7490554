"""Reports show every finding with its frames, and escape text from the server."""

import html
import re
from collections.abc import Callable

import msgspec
import pytest

from assay.certify import report
from assay.certify.summary import summarise
from assay.certify.summary_form import Summary
from assay.lab.harness.verdict import Verdict
from tests.certify.runs import CONTEXT, IDS, cell, checked, files, healthy, run
from tests.certify.test_summary import JUDGED
from tests.lab.hostile_text import WORST, expect_harmless, with_text


@pytest.fixture
def bad() -> Summary:
    hostile = msgspec.structs.replace(CONTEXT, server="<b>x|y</b>")
    return summarise(files(run(cell(checked(IDS, Verdict.FAILURE)))), hostile, JUDGED, {})


def test_every_demand_is_in_both(bad: Summary) -> None:
    page, text = report.html(bad), report.markdown(bad)
    for score in bad.checks:
        assert score.id in page and score.id in text


def test_findings_come_with_frames(bad: Summary) -> None:
    for text in (report.html(bad), report.markdown(bad)):
        assert "run/traces/jrpc.ids.ndjson#3" in text


def test_text_from_the_server_is_escaped(bad: Summary) -> None:
    page = report.html(bad)
    assert "<that>" not in page and "&lt;that&gt;" in page
    assert "<b>x" not in page
    assert "<b>x" not in report.markdown(bad)


def test_the_page_loads_nothing(bad: Summary) -> None:
    page = report.html(bad)
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r"<script|src=|@import|url\(", page)
    assert all(link.startswith(("run/", "registry/")) for link in re.findall(r'href="([^"]*)"', page))
    page.encode("ascii")


def test_reports_show_what_was_not_measured() -> None:
    summary = summarise(files(healthy()), CONTEXT, JUDGED, {})
    assert "| BENCH-SSE-01 | not measured |" in report.markdown(summary)
    assert "Latency was not measured" in report.html(summary)


@pytest.mark.parametrize(
    ("developer", "harness", "remark"),
    [
        (None, None, "Not signed"),
        ("sha256:a", None, "Self-attested"),
        ("sha256:a", "sha256:a", "Self-attested"),
        ("sha256:a", "sha256:b", "Self-attested: signed by the developer with sha256:a. The metrics are"),
    ],
)
def test_the_report_names_the_signers(developer: str | None, harness: str | None, remark: str) -> None:
    context = msgspec.structs.replace(CONTEXT, developer=developer, harness=harness)
    assert remark in report.markdown(summarise(files(healthy()), context, JUDGED, {}))


@pytest.mark.parametrize("show", [report.html, report.markdown])
def test_text_of_a_server_does_not_act(show: Callable[[Summary], str]) -> None:
    context = msgspec.structs.replace(CONTEXT, server=WORST, version=WORST)
    failed = run(cell(checked(IDS, Verdict.FAILURE)))
    text = show(summarise(files(with_text(failed, WORST)), context, JUDGED, {}))
    expect_harmless(text)
    harmless = show(summarise(files(with_text(failed, "x")), CONTEXT, JUDGED, {}))
    assert text.count("\n#") == harmless.count("\n#") and text.count("\n|") == harmless.count("\n|")
