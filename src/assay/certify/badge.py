"""The badge: a view of `summary.json`, with the keys that the marketplace reads, and nothing of its own.

A badge proves nothing alone; `assay verify` makes it again from the summary of a signed bundle.
What was not measured is `null` or `"missing"`: never zero, never passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec import Struct

from assay.certify.bundle.bundle_manifest import Profile
from assay.certify.bundle.layout import MANIFEST

from .metrics import Percentiles, Source
from .scoring import Conclusion
from .summary import read, state
from .summary_form import Summary

CHECKS: Final[Mapping[str, str]] = {
    "transport.sse.resume": "CONF-TPT-01.http.resume",
    "jsonrpc.positive": "CONF-JRPC-02.",
    "jsonrpc.negatives": "CONF-JRPC-03.",
    "discovery.manifests": "CONF-CAP-03.manifests.",
}
"""What the marketplace calls it, and how the demands begin that it stands for."""
State = Literal["pass", "fail", "missing"]


class Replay(Struct, frozen=True, forbid_unknown_fields=True):
    success_rate: float | None


class Badge(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    server: str
    version: str | None
    checks: dict[str, State]
    latency: dict[str, float | None]
    """In milliseconds; see `metricsSource` for who says so."""
    sandbox: dict[str, str]
    replay: Replay
    generated_at: str
    expires_at: str
    conclusion: Conclusion
    passed: int
    scored: int
    not_measured: int
    profile: Profile
    protocol_versions: list[str]
    metrics_source: Source | None
    summary_sha256: str
    attestation: str | None
    """The signed file of the bundle that stands behind this; none where nobody signed."""
    self_attested: bool


class Shields(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An endpoint of shields.io."""

    schema_version: Literal[1]
    label: str
    message: str
    color: str


def badge(summary: bytes) -> bytes:
    """`badge.json`, of `summary.json`.

    Raises:
        BadSummary: these bytes are none.
    """
    found = read(summary)
    made = Badge(
        server=found.server.name,
        version=found.server.version,
        checks={name: _state(found, begin) for name, begin in CHECKS.items()},
        latency={
            "sse.p95_ms": _p95(found.latency.sse_ms),
            "coldstart.p95_ms": _p95(found.latency.cold_start_ms),
        },
        sandbox=found.sandbox,
        replay=Replay(found.replay.success_rate),
        generated_at=found.generated_at,
        expires_at=found.expires_at,
        conclusion=found.conclusion,
        passed=found.summary.passed,
        scored=found.summary.scored,
        not_measured=found.summary.not_measured,
        profile=found.profile,
        protocol_versions=found.server.protocol_versions,
        metrics_source=found.metrics.source if found.metrics else None,
        summary_sha256=sha256(summary).hexdigest(),
        attestation=MANIFEST if found.attested.developer else None,
        self_attested=found.attested.self_attested,
    )
    return _encoded(made)


def shields(summary: bytes) -> bytes:
    """`shields.json`, of `summary.json`.

    Raises:
        BadSummary: these bytes are none.
    """
    found = read(summary)
    counts = found.summary
    parts = [f"{counts.passed}/{counts.scored}"]
    parts += [f"{counts.not_measured} not measured"] if counts.not_measured else []
    parts += [] if found.attested.developer else ["unsigned"]
    return _encoded(Shields(1, "MCP profile", ", ".join(parts), _colour(found)))


def _colour(found: Summary) -> str:
    if found.conclusion is Conclusion.NOT_MET:
        return "red"
    if found.conclusion is Conclusion.TOO_LITTLE or not found.attested.developer:
        return "lightgrey"
    return "yellow" if found.summary.not_measured else "brightgreen"


def _state(found: Summary, begin: str) -> State:
    concerned = [one for one in found.checks if one.id == begin or one.id.startswith(begin)]
    match state(concerned):
        case "pass":
            return "pass"
        case "fail":
            return "fail"
        case _:
            return "missing"


def _p95(figures: Percentiles | None) -> float | None:
    return None if figures is None else figures.p95


def _encoded(made: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n"
