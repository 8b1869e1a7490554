"""The badge: a view of `summary.json` with the keys that the marketplace reads.

A badge alone proves nothing; `assay verify` rebuilds it from the summary of a signed bundle.
A value that was not measured is `null` or `"missing"`, never zero or passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from assay.certify.bundle.bundle_manifest import ProfileReference
from assay.certify.bundle.layout import MANIFEST

from .conclusion import Conclusion, StreamProof, stream_proof
from .metrics import Percentiles, Source
from .summary import read, state
from .summary_form import Summary

CHECKS: Final[Mapping[str, str]] = {
    "transport.sse.resume": "CONF-TPT-01.http.resume",
    "jsonrpc.positive": "CONF-JRPC-02.",
    "jsonrpc.negatives": "CONF-JRPC-03.",
    "discovery.manifests": "CONF-CAP-03.manifests.",
}
"""The marketplace's name, and the prefix of the demands that it covers."""
State = Literal["pass", "fail", "missing"]


class Replay(Struct, frozen=True, forbid_unknown_fields=True):
    success_rate: float | None


class Badge(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    server: str
    version: str | None
    checks: dict[str, State]
    latency: dict[str, float | None]
    """In milliseconds, from the benchmarks in the bundle or else from metrics, whose source is
    `metricsSource`."""
    sandbox: dict[str, str]
    replay: Replay
    generated_at: str
    expires_at: str
    conclusion: Conclusion
    passed: int
    scored: int
    not_measured: int
    profile: ProfileReference
    protocol_versions: list[str]
    metrics_source: Source | None
    summary_sha256: str
    attestation: str | None
    """The signed manifest of the bundle; null if the bundle is not signed."""
    self_attested: bool
    """Since version 2 of the summary always true: only a verifier who pins a harness's key says otherwise."""
    platform: str | UnsetType | None = UNSET
    scope: list[str] | UnsetType = UNSET
    """The transports that the server is certified for."""
    streams: StreamProof | UnsetType | None = UNSET
    """What was shown of its streams; null if nothing was, or HTTP is outside the scope."""
    categories: dict[str, str] | UnsetType = UNSET
    gaps: list[str] | UnsetType = UNSET
    """Why the conclusion is `incomplete`."""


class Shields(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The endpoint format of shields.io."""

    schema_version: Literal[1]
    label: str
    message: str
    color: str


def badge(summary: bytes) -> bytes:
    """`badge.json` for the `summary.json` given.

    Raises:
        BadSummary: the data is not a summary.
    """
    document = read(summary)
    view = Badge(
        server=document.server.name,
        version=document.server.version,
        checks={name: _state(document, prefix) for name, prefix in CHECKS.items()},
        latency=_latency(document),
        sandbox=document.sandbox,
        replay=Replay(document.replay.success_rate),
        generated_at=document.generated_at,
        expires_at=document.expires_at,
        conclusion=document.conclusion,
        passed=document.summary.passed,
        scored=document.summary.scored,
        not_measured=document.summary.not_measured,
        profile=document.profile,
        protocol_versions=document.server.protocol_versions,
        metrics_source=document.metrics.source if document.metrics else None,
        summary_sha256=sha256(summary).hexdigest(),
        attestation=MANIFEST if document.attested.developer else None,
        self_attested=document.attested.self_attested,
        platform=document.metrics.platform if document.metrics else UNSET,
    )
    return _encoded(view if isinstance(document.scope, UnsetType) else _with_scope(view, document))


def _with_scope(view: Badge, document: Summary) -> Badge:
    """The fields since version 3 of the summary."""
    proof = stream_proof(document.checks)
    return msgspec.structs.replace(
        view, scope=document.scope, streams=proof, categories=document.categories, gaps=document.gaps
    )


def shields(summary: bytes) -> bytes:
    """`shields.json` for the `summary.json` given.

    Raises:
        BadSummary: the data is not a summary.
    """
    document = read(summary)
    counts = document.summary
    parts = ["incomplete"] if document.conclusion is Conclusion.INCOMPLETE else []
    parts += [f"{counts.passed}/{counts.scored}"]
    parts += [f"{document.scope[0]} only"] if document.scope and len(document.scope) == 1 else []
    parts += [f"{counts.not_measured} not measured"] if counts.not_measured else []
    parts += [] if document.attested.developer else ["unsigned"]
    return _encoded(Shields(1, "MCP profile", ", ".join(parts), _colour(document)))


def _colour(summary: Summary) -> str:
    if summary.conclusion is Conclusion.NOT_MET:
        return "red"
    if summary.conclusion is not Conclusion.MET or not summary.attested.developer:
        return "lightgrey"
    return "yellow" if summary.summary.not_measured else "brightgreen"


def _state(summary: Summary, prefix: str) -> State:
    match state([score for score in summary.checks if score.id.startswith(prefix)]):
        case "pass":
            return "pass"
        case "fail":
            return "fail"
        case _:
            return "missing"


def _latency(summary: Summary) -> dict[str, float | None]:
    """The marketplace's two figures, and those by transport where the summary has them."""
    latency = summary.latency
    figures = {"sse.p95_ms": _p95(latency.sse_ms), "coldstart.p95_ms": _p95(latency.cold_start_ms)}
    if isinstance(latency.http_ms, UnsetType):
        return figures
    return figures | {"http.p95_ms": _p95(latency.http_ms), "stdio.p95_ms": _p95(latency.stdio_ms)}


def _p95(percentiles: Percentiles | None) -> float | None:
    return None if percentiles is None else percentiles.p95


def _encoded(view: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(view), indent=2) + b"\n"
