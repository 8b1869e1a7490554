"""Benchmark results from elsewhere: `results.json`, given with `--metrics`.

They are *self-reported*, unless a trusted harness signed them in a DSSE envelope. They do not affect a score.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from assay.signing import canonical, dsse
from assay.signing.dsse import InvalidEnvelope, Role, Trust
from assay.signing.keys import SigningKey

PAYLOAD_TYPE: Final = "application/vnd.assay.metrics+json"
LARGEST: Final = 4 * 1024 * 1024
MAX_NAMES: Final = 5
"""Servers or platforms in a message."""
TRANSPORTS: Final = {"stdio": "stdio", "http": "http", "sse": "http", "streamable-http": "http"}
"""What the `transport` of a run may be, and where its latency is shown."""

Milliseconds = Annotated[float, Meta(ge=0)]


class BadMetrics(ValueError):
    """The results are invalid, or not signed as required; the message gives the cause."""


class Source(StrEnum):
    SELF_REPORTED = "self-reported"
    HARNESS = "harness"
    """In summaries of version 1."""
    SIGNED = "signed"
    """By a key other than the summary can vouch for: only a verifier who trusts it calls it a harness."""


class Percentiles(Struct, frozen=True):
    p50: Milliseconds | None = None
    p95: Milliseconds | None = None
    p99: Milliseconds | None = None


class ServerMetrics(Struct, frozen=True):
    latency_ms: Percentiles | None = None
    cold_start_ms: Percentiles | None = None
    sse_latency_ms: Percentiles | None = None
    error_rate: Annotated[float, Meta(ge=0, le=1)] | None = None
    cost_per_1k_calls_usd: Annotated[float, Meta(ge=0)] | None = None


class BenchmarkRun(Struct, frozen=True):
    server: str
    metrics: ServerMetrics
    platform: Any = None
    transport: Any = None
    """`stdio`, or what `TRANSPORTS` counts as HTTP. It was ignored in bundles with a summary of version 1."""


class Results(Struct, frozen=True):
    """Unknown fields are ignored."""

    runs: list[BenchmarkRun]
    benchmark_id: str = ""


class Metrics(Struct, frozen=True):
    results: Results
    source: Source
    signer: str | None
    """The id of the key that signed them, if the signature was verified."""
    data: bytes
    """The file, as stored in the bundle."""

    def last(self, server: str) -> BenchmarkRun | None:
        """The server's last run, if any: what summaries of version 1 show."""
        return next((run for run in reversed(self.results.runs) if run.server == server), None)

    def select(self, server: str, platform: str | None = None) -> BenchmarkRun:
        """The only run of a server on a platform; without a platform, the only one at all.

        Raises:
            BadMetrics: there is none, or more than one.
        """
        runs = [run for run in self.results.runs if run.server == server]
        if not runs:
            others = _names(run.server for run in self.results.runs)
            raise BadMetrics(f"no run of the server {server}, only of {others or 'no server'}")
        chosen = [run for run in runs if platform in (None, run.platform)]
        if not chosen:
            others = _names(map(platform_of, runs))
            raise BadMetrics(f"no run of {server} on the platform {platform}, only on {others}")
        if len(chosen) > 1:
            where = _names(map(platform_of, chosen))
            raise BadMetrics(f"{len(chosen)} runs of {server}, on {where}: which one counts is not clear")
        _check_run(chosen[0])
        return chosen[0]


def platform_of(run: BenchmarkRun) -> str:
    return "no platform" if run.platform is None else str(run.platform)


def _check_run(run: BenchmarkRun) -> None:
    if not isinstance(run.platform, str | None):
        raise BadMetrics(f"the platform of the run of {run.server} is not a text")
    if run.transport is not None and run.transport not in TRANSPORTS:
        raise BadMetrics(f"the transport of the run of {run.server} is not one of {', '.join(TRANSPORTS)}")


def _names(names: Iterable[str]) -> str:
    several = sorted(set(names))
    more = f" and {len(several) - MAX_NAMES} more" if len(several) > MAX_NAMES else ""
    return ", ".join(several[:MAX_NAMES]) + more


def read(data: bytes, trust: Trust | None = None) -> Metrics:
    """
    Raises:
        BadMetrics: the data is invalid or, with `trust`, not signed by a trusted harness.
    """
    if len(data) > LARGEST:
        raise BadMetrics(f"not metrics: {len(data)} bytes exceed the limit of {LARGEST}")
    if trust is not None:
        try:
            signed = dsse.verify(data, trust, Role.HARNESS, PAYLOAD_TYPE)
        except InvalidEnvelope as error:
            raise BadMetrics(f"the metrics are refused ({error.reason}): {error}") from error
        return Metrics(_results(signed.payload), Source.HARNESS, signed.key_id, data)
    return Metrics(_results(_payload(data)), Source.SELF_REPORTED, None, data)


def sign(data: bytes, key: SigningKey) -> bytes:
    """Sign results with the key of the harness that measured them.

    Raises:
        BadMetrics: the data is invalid.
    """
    _results(data)
    return dsse.sign(data, key, PAYLOAD_TYPE)


def signer_named(data: bytes) -> str | None:
    """The id of the key that an envelope names. The signature is not verified."""
    try:
        [signature] = canonical.decode(data)["signatures"]
        return str(signature["keyid"])
    except (ValueError, KeyError, TypeError):
        return None


def _payload(data: bytes) -> bytes:
    """The payload of an envelope, unverified; data without an envelope is returned unchanged."""
    try:
        envelope = canonical.decode(data)
        return base64.b64decode(envelope["payload"], validate=True)
    except (ValueError, KeyError, TypeError):
        return data


def _results(data: bytes) -> Results:
    try:
        return msgspec.json.decode(data, type=Results)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadMetrics(f"not metrics: {error}; see docs/bundle.md for the format") from error
