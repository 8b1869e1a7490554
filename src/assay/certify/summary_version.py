"""The versions of `summary.json`. Each builds what it always built, so that old bundles can be rebuilt.

Version 1 showed the last run of the server in the metrics, wrote its latency under stdio, and called a bundle
independent as soon as a second key had signed the metrics. Version 2 knew neither scope nor measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from typing import Final

from msgspec import Struct

from . import metrics
from .metrics import BenchmarkRun, Metrics, ServerMetrics, Source
from .summary_form import Attested, Latency, MetricsRecord, Schema


class MetricsContext(Struct, frozen=True):
    """What a summary states about metrics that the file does not contain."""

    server: str
    source: Source
    harness: str | None
    platform: str | None


class SummaryVersion(Struct, frozen=True):
    run: Callable[[Metrics, MetricsContext], BenchmarkRun | None]
    """The run that is shown. Raises BadMetrics if it is not clear which."""
    latency: Callable[[BenchmarkRun | None, Collection[str]], Latency]
    """The figures of a run, given the transports on which the server was judged."""
    record: Callable[[BenchmarkRun | None, MetricsContext, bytes], MetricsRecord]
    attested: Callable[[str | None, str | None], Attested]
    """By the ids of the developer's and the harness's key."""
    states_scope: bool = False
    """Whether it states the scope, what was left open, and the measurements."""


def _last_run(results: Metrics, context: MetricsContext) -> BenchmarkRun | None:
    return results.last(context.server)


def _only_run(results: Metrics, context: MetricsContext) -> BenchmarkRun:
    return results.select(context.server, context.platform)


def _values(run: BenchmarkRun | None) -> ServerMetrics:
    return ServerMetrics() if run is None else run.metrics


def _latency_under_stdio(run: BenchmarkRun | None, judged: Collection[str]) -> Latency:
    values = _values(run)
    return Latency(values.latency_ms, values.sse_latency_ms, values.cold_start_ms)


def _latency_by_transport(run: BenchmarkRun | None, judged: Collection[str]) -> Latency:
    values = _values(run)
    figures = {"stdio": None, "http": None, _transport(run, judged): values.latency_ms}
    return Latency(figures["stdio"], values.sse_latency_ms, values.cold_start_ms, figures["http"])


def _transport(run: BenchmarkRun | None, judged: Collection[str]) -> str:
    """Of a run's latency: the one that it names, or the one that was judged, HTTP if both were."""
    if run is not None and run.transport is not None:
        return metrics.TRANSPORTS[run.transport]
    return "stdio" if set(judged) == {"stdio"} else "http"


def _record_by_source(run: BenchmarkRun | None, context: MetricsContext, data: bytes) -> MetricsRecord:
    digest = sha256(data).hexdigest()
    return MetricsRecord(context.source, context.harness, digest, _values(run).error_rate)


def _record_by_signer(run: BenchmarkRun | None, context: MetricsContext, data: bytes) -> MetricsRecord:
    source = Source.SELF_REPORTED if context.harness is None else Source.SIGNED
    platform = None if run is None else run.platform
    return MetricsRecord(source, context.harness, sha256(data).hexdigest(), _values(run).error_rate, platform)


def _attested_by_two(developer: str | None, harness: str | None) -> Attested:
    return Attested(developer, harness, harness in (None, developer))


def _self_attested(developer: str | None, harness: str | None) -> Attested:
    return Attested(developer, harness, True)


VERSIONS: Final[Mapping[Schema, SummaryVersion]] = {
    "dev.assay/summary/1": SummaryVersion(
        _last_run, _latency_under_stdio, _record_by_source, _attested_by_two
    ),
    "dev.assay/summary/2": SummaryVersion(
        _only_run, _latency_by_transport, _record_by_signer, _self_attested
    ),
    "dev.assay/summary/3": SummaryVersion(
        _only_run, _latency_by_transport, _record_by_signer, _self_attested, states_scope=True
    ),
}
