"""What a summary shows of the measurements in its bundle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

import msgspec

from assay.certify.measurement.document import document_name, stored_documents

from .metrics import Percentiles, signer_named
from .profile_list import MeasuredBy, Profile
from .summary_form import Latency, MeasurementRecord

SANDBOX: Final = "CONF-TPT-01.stdio.no-network"
REPLAY: Final = "CONF-EVD-06.replay"
BENCHMARKS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "stdio_ms": ("BENCH-STDIO-02", {"p50": "p50_ms", "p95": "p95_ms", "p99": "p99_ms"}),
    "cold_start_ms": ("BENCH-STDIO-02", {"p95": "cold_start_p95_ms"}),
    "sse_ms": ("BENCH-SSE-01", {"p50": "p50_ms_200", "p95": "p95_ms_200"}),
}
"""The benchmark of each latency, and the figures of its percentiles; streams with 200 users."""


def measurement_records(files: Mapping[str, bytes], profile: Profile) -> list[MeasurementRecord]:
    """In the order of the profile.

    Raises:
        BadMeasurement: a document is invalid.
    """
    demands = [demand.id for demand in profile.demands if demand.by is MeasuredBy.MEASUREMENT]
    documents = stored_documents(files, demands)
    return [_record(name, document.figures, document.facts, files) for name, document in documents.items()]


def _record(
    demand: str, figures: dict[str, float], facts: dict[str, str], files: Mapping[str, bytes]
) -> MeasurementRecord:
    data = files[document_name(demand)]
    return MeasurementRecord(demand, figures, facts, sha256(data).hexdigest(), signer_named(data))


def sandbox_facts(records: Iterable[MeasurementRecord]) -> dict[str, str]:
    return next((dict(record.facts) for record in records if record.demand == SANDBOX), {})


def replay_rate(records: Iterable[MeasurementRecord]) -> float | None:
    return next((record.figures.get("success_rate") for record in records if record.demand == REPLAY), None)


def with_benchmarks(reported: Latency, records: Iterable[MeasurementRecord]) -> Latency:
    """The latencies with those that benchmarks measured in place of reported ones."""
    figures = {record.demand: record.figures for record in records}
    measured = {
        name: Percentiles(**{key: figures[demand].get(figure) for key, figure in percentiles.items()})
        for name, (demand, percentiles) in BENCHMARKS.items()
        if demand in figures
    }
    return msgspec.structs.replace(
        reported, **{name: value for name, value in measured.items() if value != Percentiles()}
    )
