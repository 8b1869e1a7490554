"""Figures that somebody else has measured: `results.json`, given with `--metrics`.

They are *self-reported*, unless they come in a DSSE envelope that a trusted harness has signed. Nothing is
judged by them here.
"""

from __future__ import annotations

import base64
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from assay.signing import canonical, dsse
from assay.signing.dsse import InvalidEnvelope, Role, Trust
from assay.signing.keys import SigningKey

PAYLOAD_TYPE: Final = "application/vnd.assay.metrics+json"
LARGEST: Final = 4 * 1024 * 1024

Milliseconds = Annotated[float, Meta(ge=0)]


class BadMetrics(ValueError):
    """No results, or not by whom they should be; the text says why."""


class Source(StrEnum):
    SELF_REPORTED = "self-reported"
    HARNESS = "harness"


class Percentiles(Struct, frozen=True):
    p50: Milliseconds | None = None
    p95: Milliseconds | None = None
    p99: Milliseconds | None = None


class Figures(Struct, frozen=True):
    latency_ms: Percentiles | None = None
    cold_start_ms: Percentiles | None = None
    sse_latency_ms: Percentiles | None = None
    error_rate: Annotated[float, Meta(ge=0, le=1)] | None = None
    cost_per_1k_calls_usd: Annotated[float, Meta(ge=0)] | None = None


class BenchmarkRun(Struct, frozen=True):
    server: str
    metrics: Figures
    platform: Any = None


class Results(Struct, frozen=True):
    """What is not listed here may be there, and is not read."""

    runs: list[BenchmarkRun]
    benchmark_id: str = ""


class Metrics(Struct, frozen=True):
    results: Results
    source: Source
    signer: str | None
    """The id of the key that signed them, as far as that was verified."""
    data: bytes
    """The file as it goes into the bundle."""

    def of(self, server: str) -> Figures | None:
        """The last run of a server; none where there is none."""
        return next((run.metrics for run in reversed(self.results.runs) if run.server == server), None)


def read(data: bytes, trust: Trust | None = None) -> Metrics:
    """
    Raises:
        BadMetrics: these are no results; or, with `trust`, not signed by a harness that is trusted.
    """
    if len(data) > LARGEST:
        raise BadMetrics(f"no metrics: {len(data)} bytes, which is more than {LARGEST}")
    if trust is not None:
        try:
            signed = dsse.verify(data, trust, Role.HARNESS, PAYLOAD_TYPE)
        except InvalidEnvelope as error:
            raise BadMetrics(f"the metrics are refused ({error.reason}): {error}") from error
        return Metrics(_results(signed.payload), Source.HARNESS, signed.key_id, data)
    return Metrics(_results(_payload(data)), Source.SELF_REPORTED, None, data)


def sign(data: bytes, key: SigningKey) -> bytes:
    """Results in an envelope, by whoever has measured them.

    Raises:
        BadMetrics: these are no results.
    """
    _results(data)
    return dsse.sign(data, key, PAYLOAD_TYPE)


def signer_named(data: bytes) -> str | None:
    """The key that an envelope says it is signed with. Nothing is verified here."""
    try:
        [signature] = canonical.decode(data)["signatures"]
        return str(signature["keyid"])
    except (ValueError, KeyError, TypeError):
        return None


def _payload(data: bytes) -> bytes:
    """What an envelope holds, whoever signed it; the bytes themselves where there is none."""
    try:
        envelope = canonical.decode(data)
        return base64.b64decode(envelope["payload"], validate=True)
    except (ValueError, KeyError, TypeError):
        return data


def _results(data: bytes) -> Results:
    try:
        return msgspec.json.decode(data, type=Results)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadMetrics(f"no metrics: {error}; see docs/bundle.md for their form") from error
