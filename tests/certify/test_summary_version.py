"""What each version of the summary shows of the same metrics."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from assay.certify import metrics
from assay.certify.metrics import Percentiles, Source
from assay.certify.summary_form import Latency
from assay.certify.summary_version import VERSIONS, MetricsContext

FIRST, SECOND = VERSIONS["dev.assay/summary/1"], VERSIONS["dev.assay/summary/2"]
P95 = Percentiles(p95=5)
ABOUT = MetricsContext("a", Source.HARNESS, "sha256:cd", None)


def run(**fields: Any) -> metrics.BenchmarkRun:
    entry = {"server": "a", "metrics": {"latency_ms": {"p95": 5}}, **fields}
    return metrics.read(json.dumps({"runs": [entry]}).encode()).select("a")


@pytest.mark.parametrize(
    ("transport", "judged", "expected"),
    [
        (None, {"http"}, Latency(http_ms=P95)),
        (None, {"http", "stdio"}, Latency(http_ms=P95)),
        (None, {"stdio"}, Latency(P95, http_ms=None)),
        ("stdio", {"http", "stdio"}, Latency(P95, http_ms=None)),
        ("sse", {"stdio"}, Latency(http_ms=P95)),
        ("streamable-http", {"stdio"}, Latency(http_ms=P95)),
    ],
)
def test_a_latency_is_shown_under_its_transport(
    transport: str | None, judged: set[str], expected: Latency
) -> None:
    assert SECOND.latency(run(transport=transport), judged) == expected


def test_version_1_shows_every_latency_under_stdio() -> None:
    assert FIRST.latency(run(), {"http"}) == Latency(P95, http_ms=UNSET)


@pytest.mark.parametrize(("harness", "first"), [(None, True), ("sha256:ab", True), ("sha256:cd", False)])
def test_only_version_1_calls_a_second_key_independent(harness: str | None, first: bool) -> None:
    assert FIRST.attested("sha256:ab", harness).self_attested is first
    assert SECOND.attested("sha256:ab", harness).self_attested


def test_since_version_2_metrics_are_signed_but_not_those_of_a_harness() -> None:
    assert FIRST.record(run(), ABOUT, b"").source is Source.HARNESS
    assert SECOND.record(run(platform="x"), ABOUT, b"").source is Source.SIGNED
    assert SECOND.record(run(platform="x"), ABOUT, b"").platform == "x"
