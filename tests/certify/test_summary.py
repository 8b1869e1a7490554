"""`summary.json`: a function of the stored files, with the same bytes each time."""

import json
from typing import Any

import msgspec
import pytest

from assay.certify import evidence
from assay.certify.bundle.layout import METRICS, RUN, SUMMARY, VULNERABILITIES
from assay.certify.measurement.document import Measurement, as_files
from assay.certify.metrics import Percentiles, Source
from assay.certify.scoring import Evidence
from assay.certify.summary import BadSummary, encode, read, rebuild, summarise
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict
from tests.certify.runs import CONTEXT, FRAMING, IDS, cell, checked, files, healthy, run
from tests.certify.test_conclusion import PROFILE

RESULTS = {"runs": [{"server": "my-server", "metrics": {"sse_latency_ms": {"p95": 12.5}, "error_rate": 0.1}}]}
JUDGED = {
    evidence.SBOM: evidence.not_measured(evidence.NO_PYTHON),
    evidence.VULNERABILITIES: evidence.not_measured(evidence.NO_PYTHON),
    evidence.SIGNATURE: Evidence(Verdict.SUCCESS, "signed with sha256:ab"),
}


def stored(stored_run: Run, **more: Any) -> dict[str, bytes]:
    """The files of a bundle, including the summary."""
    content = {**files(stored_run), **{name: json.dumps(value).encode() for name, value in more.items()}}
    document = summarise(content, CONTEXT, JUDGED, {})
    return {**content, SUMMARY: encode(document)}


def test_it_has_the_fields_that_other_tools_read() -> None:
    document = json.loads(
        stored(run(cell(checked(IDS, Verdict.SUCCESS), checked(FRAMING, Verdict.FAILURE))))["summary.json"]
    )
    assert (document["summary"]["passed"], document["summary"]["failed"]) == (2, 1)
    by_name = {check["name"]: check["pass"] for check in document["checks"]}
    assert (by_name[IDS], by_name[FRAMING], by_name["BENCH-SSE-01"]) == (True, False, None)


def test_unmeasured_demands_are_counted_separately() -> None:
    summary = read(stored(healthy())["summary.json"])
    counts = summary.summary
    assert counts.failed == 0
    assert counts.passed == counts.scored < len(summary.checks)
    assert counts.pass_rate == 1.0
    assert counts.not_measured == len([score for score in summary.checks if score.pass_ is None])


def test_nothing_measured_has_no_rate() -> None:
    there = files(run())
    unsigned = {**JUDGED, evidence.SIGNATURE: evidence.not_measured(evidence.NO_KEY)}
    assert summarise(there, CONTEXT, unsigned, {}).summary.pass_rate is None


def test_categories_show_that_a_part_was_not_measured() -> None:
    categories = read(stored(healthy())["summary.json"]).categories
    assert categories["performance"] == categories["isolation"] == categories["auth"] == "not measured"
    assert categories["protocol"] == "partly measured"  # nothing was judged over HTTP
    assert categories["observability"] == "pass"


def test_a_category_outside_the_scope_is_not_applicable() -> None:
    context = msgspec.structs.replace(CONTEXT, scope=("stdio",))
    categories = summarise(files(healthy(), PROFILE), context, JUDGED, {}).categories
    assert (categories["auth"], categories["performance"]) == ("not applicable", "not measured")


def test_the_same_files_give_the_same_bytes() -> None:
    there = stored(healthy())
    assert rebuild(there) == there["summary.json"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b'"passed": ', b'"passed": 9'),
        (b'"status": "SKIPPED"', b'"status": "SUCCESS"'),
        (b'"pass": null', b'"pass": true'),
        (b'"conclusion": "met"', b'"conclusion": "not met"'),
        (b'"performance": "not measured"', b'"performance": "pass"'),
    ],
)
def test_a_changed_summary_differs_from_the_rebuilt_one(was: bytes, becomes: bytes) -> None:
    there = stored(healthy())
    there["summary.json"] = there["summary.json"].replace(was, becomes, 1)
    assert rebuild(there) != there["summary.json"]


def test_another_run_gives_another_summary() -> None:
    there = stored(healthy())
    there[RUN] = files(run(cell(checked(IDS, Verdict.FAILURE))))[RUN]
    assert rebuild(there) != there["summary.json"]


def test_evidence_without_its_file_counts_as_not_measured() -> None:
    there = files(healthy())
    boasting = {**JUDGED, evidence.SBOM: Evidence(Verdict.SUCCESS, "all there")}
    there["summary.json"] = encode(summarise(there, CONTEXT, boasting, {}))
    sbom = next(score for score in read(rebuild(there)).checks if score.id == evidence.SBOM)
    assert sbom.pass_ is None


def test_unsigned_metrics_are_self_reported() -> None:
    summary = read(stored(healthy(), **{METRICS: RESULTS})["summary.json"])
    assert summary.metrics is not None and summary.metrics.source is Source.SELF_REPORTED
    assert summary.latency.sse_ms is not None and summary.latency.sse_ms.p95 == 12.5
    assert summary.latency.cold_start_ms is None
    assert summary.categories["performance"] == "not measured"


def test_latencies_are_those_of_the_benchmarks_in_the_bundle() -> None:
    figures = {"p50_ms": 1.0, "p95_ms": 2.0, "p99_ms": 3.0, "cold_start_p95_ms": 90.0, "error_rate": 0.0}
    benchmark = as_files(Measurement(demand="BENCH-STDIO-02", figures=figures), None)
    latencies = {"latency_ms": {"p95": 7}, "sse_latency_ms": {"p95": 12.5}}
    reported = {"runs": [{"server": "my-server", "transport": "stdio", "metrics": latencies}]}
    content = {**files(healthy(), PROFILE), **benchmark, METRICS: json.dumps(reported).encode()}
    latency = summarise(content, CONTEXT, JUDGED, {}).latency
    assert latency.stdio_ms == Percentiles(1.0, 2.0, 3.0)
    assert latency.cold_start_ms == Percentiles(p95=90.0)
    assert latency.sse_ms == Percentiles(p95=12.5)


def test_metrics_of_another_server_are_refused() -> None:
    other = {"runs": [{**RESULTS["runs"][0], "server": "other"}]}
    with pytest.raises(BadSummary, match="no run of the server my-server, only of other"):
        stored(healthy(), **{METRICS: other})


@pytest.mark.parametrize("name", [RUN, "profile.toml", "summary.json"])
@pytest.mark.parametrize("data", [None, b"", b"{}", b"\xff", b"[" * 100_000])
def test_missing_and_invalid_files_are_refused(name: str, data: bytes | None) -> None:
    there = stored(healthy())
    if data is None:
        del there[name]
    else:
        there[name] = data
    with pytest.raises(BadSummary):
        rebuild(there)


@pytest.mark.parametrize("name", [METRICS, VULNERABILITIES])
def test_other_invalid_evidence_is_refused(name: str) -> None:
    with pytest.raises(BadSummary, match=name):
        stored(healthy(), **{name: {"no": "such thing"}})
