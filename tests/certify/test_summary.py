"""`summary.json`: what stored files show, the same bytes each time."""

import json
from typing import Any

import pytest

from assay.certify import evidence
from assay.certify.bundle.layout import METRICS, RUN, SUMMARY, VULNERABILITIES
from assay.certify.metrics import Source
from assay.certify.scoring import Evidence
from assay.certify.summary import BadSummary, again, encode, read, summarise
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict
from tests.certify.runs import FRAMING, IDS, OCCASION, cell, checked, files, healthy, run

RESULTS = {"runs": [{"server": "my-server", "metrics": {"sse_latency_ms": {"p95": 12.5}, "error_rate": 0.1}}]}
SHOWN = {
    evidence.SBOM: evidence.not_measured(evidence.NO_PYTHON),
    evidence.VULNERABILITIES: evidence.not_measured(evidence.NO_PYTHON),
    evidence.SIGNATURE: Evidence(Verdict.SUCCESS, "signed with sha256:ab"),
}


def stored(found: Run, **more: Any) -> dict[str, bytes]:
    """The files of a bundle, the summary among them."""
    there = {**files(found), **{name: json.dumps(value).encode() for name, value in more.items()}}
    made = summarise(there, OCCASION, SHOWN, {})
    return {**there, SUMMARY: encode(made)}


def test_it_keeps_what_other_readers_know() -> None:
    told = json.loads(
        stored(run(cell(checked(IDS, Verdict.SUCCESS), checked(FRAMING, Verdict.FAILURE))))["summary.json"]
    )
    assert (told["summary"]["passed"], told["summary"]["failed"]) == (2, 1)
    by_name = {one["name"]: one["pass"] for one in told["checks"]}
    assert (by_name[IDS], by_name[FRAMING], by_name["BENCH-SSE-01"]) == (True, False, None)


def test_what_was_not_measured_is_counted_apart() -> None:
    found = read(stored(healthy())["summary.json"])
    counts = found.summary
    assert counts.failed == 0
    assert counts.passed == counts.scored < len(found.checks)
    assert counts.pass_rate == 1.0
    assert counts.not_measured == len([one for one in found.checks if one.pass_ is None])


def test_nothing_measured_has_no_rate() -> None:
    there = files(run())
    unsigned = {**SHOWN, evidence.SIGNATURE: evidence.not_measured(evidence.NO_KEY)}
    assert summarise(there, OCCASION, unsigned, {}).summary.pass_rate is None


def test_categories_say_when_a_part_is_missing() -> None:
    told = read(stored(healthy())["summary.json"]).categories
    assert told["performance"] == told["isolation"] == told["auth"] == "not measured"
    assert told["protocol"] == "partly measured"  # nothing was judged over HTTP
    assert told["observability"] == "pass"


def test_the_same_files_give_the_same_bytes() -> None:
    there = stored(healthy())
    assert again(there) == there["summary.json"]


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
def test_a_summary_that_says_more_than_its_files_is_not_made_again(was: bytes, becomes: bytes) -> None:
    there = stored(healthy())
    there["summary.json"] = there["summary.json"].replace(was, becomes, 1)
    assert again(there) != there["summary.json"]


def test_a_run_that_was_exchanged_gives_another_summary() -> None:
    there = stored(healthy())
    there[RUN] = files(run(cell(checked(IDS, Verdict.FAILURE))))[RUN]
    assert again(there) != there["summary.json"]


def test_evidence_without_its_file_is_not_measured_again() -> None:
    there = files(healthy())
    boasting = {**SHOWN, evidence.SBOM: Evidence(Verdict.SUCCESS, "all there")}
    there["summary.json"] = encode(summarise(there, OCCASION, boasting, {}))
    found = next(one for one in read(again(there)).checks if one.id == evidence.SBOM)
    assert found.pass_ is None


def test_metrics_are_shown_as_what_they_are() -> None:
    found = read(stored(healthy(), **{METRICS: RESULTS})["summary.json"])
    assert found.metrics is not None and found.metrics.source is Source.SELF_REPORTED
    assert found.latency.sse_ms is not None and found.latency.sse_ms.p95 == 12.5
    assert found.latency.cold_start_ms is None
    assert found.categories["performance"] == "not measured"


def test_metrics_of_another_server_are_not_this_ones() -> None:
    other = {"runs": [{**RESULTS["runs"][0], "server": "other"}]}
    assert read(stored(healthy(), **{METRICS: other})["summary.json"]).latency.sse_ms is None


@pytest.mark.parametrize("name", [RUN, "profile.toml", "summary.json"])
@pytest.mark.parametrize("data", [None, b"", b"{}", b"\xff", b"[" * 100_000])
def test_files_that_are_none_are_refused(name: str, data: bytes | None) -> None:
    there = stored(healthy())
    if data is None:
        del there[name]
    else:
        there[name] = data
    with pytest.raises(BadSummary):
        again(there)


@pytest.mark.parametrize("name", [METRICS, VULNERABILITIES])
def test_further_evidence_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadSummary, match=name):
        stored(healthy(), **{name: {"no": "such thing"}})
