"""Metrics: self-reported, or signed by a harness."""

import json

import pytest

from assay.certify import metrics
from assay.certify.metrics import PAYLOAD_TYPE, BadMetrics, Source
from assay.signing import dsse, keys
from assay.signing.dsse import Role, Trust

HARNESS, STRANGER = keys.generate(), keys.generate()
TRUST = Trust([(HARNESS.public, Role.HARNESS)])
RESULTS = json.dumps(
    {
        "$schema": "https://example.org/results",
        "runs": [
            {"server": "a", "platform": "x", "metrics": {"cold_start_ms": {"p95": 120}}},
            {"server": "a", "metrics": {"cold_start_ms": {"p95": 100}, "unheard_of": 1}},
        ],
        "signatures": [{"type": "ed25519", "signature": "TODO"}],
    }
).encode()


def test_plain_results_are_self_reported_whatever_signature_they_claim() -> None:
    results = metrics.read(RESULTS)
    assert (results.source, results.signer) == (Source.SELF_REPORTED, None)


SHOOTOUT = json.dumps(
    {
        "$schema": "https://example.org/results-1.json",
        "benchmark_id": "spring",
        "runs": [
            {
                "server": server,
                "platform": platform,
                "metrics": {
                    "latency_ms": {"p50": p50, "p95": p50 * 2, "p99": p50 * 3},
                    "cold_start_ms": {"p95": p50 * 4},
                    "sse_latency_ms": {"p95": p50 * 2.5},
                    "error_rate": 0.002,
                    "cost_per_1k_calls_usd": 0.05,
                },
            }
            for server, platform, p50 in (
                ("notes", "ours", 100),
                ("notes", "theirs", 50),
                ("files", "ours", 9),
            )
        ],
        "signatures": [{"type": "ed25519", "signer": "somebody", "signature": "TODO"}],
        "provenance": {"ledger_root": "TODO", "generated_at": "2030-01-01T00:00:00Z"},
    }
).encode()
"""In the shape of the marketplace's own file: a run of each server on each platform."""


def runs(*entries: dict[str, object]) -> metrics.Metrics:
    several = [{"server": "a", "metrics": {}, **entry} for entry in entries]
    return metrics.read(json.dumps({"runs": several}).encode())


@pytest.mark.parametrize(("platform", "p50"), [("ours", 100), ("theirs", 50)])
def test_a_run_is_chosen_by_server_and_platform(platform: str, p50: float) -> None:
    latency = metrics.read(SHOOTOUT).select("notes", platform).metrics.latency_ms
    assert latency is not None and latency.p50 == p50


def test_the_only_run_of_a_server_needs_no_platform() -> None:
    assert metrics.read(SHOOTOUT).select("files").platform == "ours"


@pytest.mark.parametrize(
    ("results", "platform", "message"),
    [
        (metrics.read(SHOOTOUT), None, "2 runs of notes, on ours, theirs: which one"),
        (metrics.read(SHOOTOUT), "mine", "no run of notes on the platform mine, only on ours, theirs"),
        (runs({"server": "b"}), None, "no run of the server notes, only of b"),
        (runs(), None, "only of no server"),
        (runs(*({"server": str(n)} for n in range(9))), None, "only of 0, 1, 2, 3, 4 and 4 more"),
        (runs(*[{"server": "notes", "platform": "x"}] * 2), "x", "2 runs of notes, on x: which one"),
        (runs({"server": "notes"}, {"server": "notes", "platform": "x"}), None, "on no platform, x: which"),
        (runs({"server": "notes", "platform": {"name": "x"}}), None, "is not a text"),
        (runs({"server": "notes", "transport": "pigeon"}), None, "is not one of stdio, http, sse"),
    ],
)
def test_a_run_that_is_not_clear_is_refused(
    results: metrics.Metrics, platform: str | None, message: str
) -> None:
    with pytest.raises(BadMetrics, match=message):
        results.select("notes", platform)


def test_results_that_a_trusted_harness_signed() -> None:
    results = metrics.read(metrics.sign(RESULTS, HARNESS), TRUST)
    assert (results.source, results.signer) == (Source.HARNESS, HARNESS.public.id)
    assert results.select("a", "x").platform == "x"


def test_an_unverified_signature_does_not_prove_a_harness() -> None:
    results = metrics.read(metrics.sign(RESULTS, HARNESS))
    assert (results.source, results.signer) == (Source.SELF_REPORTED, None)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (RESULTS, "malformed"),
        (metrics.sign(RESULTS, STRANGER), "unknown-key"),
        (dsse.sign(RESULTS, HARNESS), "wrong-type"),
        (metrics.sign(RESULTS, HARNESS).replace(b'"sig":"', b'"sig":"AAAA', 1), "bad-signature"),
    ],
)
def test_with_a_trusted_harness_other_metrics_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(BadMetrics, match=reason):
        metrics.read(data, TRUST)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"runs": 1}',
        b'{"runs": [{"server": "a", "metrics": {"error_rate": 2}}]}',
        b'{"runs": [{"server": "a", "metrics": {"cold_start_ms": {"p95": -1}}}]}',
        b" " * (metrics.LARGEST + 1),
        dsse.sign(b"{}", HARNESS, PAYLOAD_TYPE),
    ],
)
def test_invalid_results_are_refused(data: bytes) -> None:
    with pytest.raises(BadMetrics, match="not metrics"):
        metrics.read(data)


def test_only_valid_results_are_signed() -> None:
    with pytest.raises(BadMetrics):
        metrics.sign(b"{}", HARNESS)
