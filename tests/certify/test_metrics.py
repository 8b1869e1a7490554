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


def test_the_last_run_of_a_server_counts() -> None:
    results = metrics.read(RESULTS).of("a")
    assert results is not None and results.cold_start_ms is not None
    assert results.cold_start_ms.p95 == 100
    assert metrics.read(RESULTS).of("b") is None


def test_results_that_a_trusted_harness_signed() -> None:
    results = metrics.read(metrics.sign(RESULTS, HARNESS), TRUST)
    assert (results.source, results.signer) == (Source.HARNESS, HARNESS.public.id)
    assert results.of("a") is not None


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
