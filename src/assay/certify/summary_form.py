"""The fields of `summary.json`; its JSON Schema is `schemas/summary.schema.json`."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from assay.certify.bundle.bundle_manifest import Artifact, ProfileReference

from .conclusion import Conclusion
from .metrics import Percentiles, Source
from .scoring import Score

Schema = Literal["dev.assay/summary/1", "dev.assay/summary/2", "dev.assay/summary/3"]
SCHEMA: Final = "dev.assay/summary/3"
"""The version that is written; `summary_version` has those that are read. Fields that an older version lacks
are unset in it."""


class _Part(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pass


class Tool(_Part, frozen=True):
    name: str
    version: str


class Host(_Part, frozen=True):
    """The machine that judged."""

    os: str
    kernel: str
    cpu: str
    python: str


class RunRecord(_Part, frozen=True):
    sha256: str
    """Of `run/run.json`."""
    started_at: str
    finished_at: str
    host: Host


class JudgedServer(_Part, frozen=True):
    name: str
    version: str
    artifact: Artifact | None
    protocol_versions: list[str]
    transports: list[str]


class Counts(_Part, frozen=True):
    passed: int
    """Scored demands that are met."""
    failed: int
    """Scored demands that are not met."""
    warned: int
    """Demands with a warning, scored or not."""
    skipped: int
    """Not applicable: the server lacks the feature."""
    not_measured: int
    scored: int
    """Scored demands that were measured: passed plus failed."""
    pass_rate: float | None


class Latency(Struct, frozen=True, forbid_unknown_fields=True):
    """From the benchmarks in the bundle, and what these did not measure from the given metrics, which are
    self-reported unless `metrics.source` says otherwise."""

    stdio_ms: Percentiles | None = None
    sse_ms: Percentiles | None = None
    cold_start_ms: Percentiles | None = None
    http_ms: Percentiles | UnsetType | None = UNSET


class MetricsRecord(_Part, frozen=True):
    source: Source
    signer: str | None
    """The id of the harness key, if its signature was made or verified."""
    sha256: str
    error_rate: float | None = None
    platform: str | UnsetType | None = UNSET
    """Of the run that the figures are from."""


class Replay(_Part, frozen=True):
    success_rate: float | None = None


class MeasurementRecord(_Part, frozen=True):
    """The figures of a demand that was measured."""

    demand: str
    figures: dict[str, float]
    facts: dict[str, str]
    sha256: str
    """Of its document below `measurements/`."""
    signer: str | None
    """The id of the key that the document names; only a verifier says whether to trust it."""


class Export(_Part, frozen=True):
    sha256: str
    newest: str
    records: int


class VulnerabilityCounts(_Part, frozen=True):
    critical: int
    high: int
    medium: int
    low: int
    unscored: int
    undecided: int
    unmatched: int
    waived: list[str]
    db: Export


class Attested(_Part, frozen=True):
    """The ids of the signing keys. The verifier decides which ones to trust."""

    developer: str | None
    harness: str | None
    self_attested: bool
    """Version 1: only the developer has signed. Later always true: verifiers know whose keys they are."""


class File(_Part, frozen=True):
    name: str
    sha256: str
    media_type: str


class Summary(_Part, frozen=True):
    schema: Schema
    profile: ProfileReference
    tool: Tool
    run: RunRecord
    server: JudgedServer
    generated_at: str
    expires_at: str
    attested: Attested
    conclusion: Conclusion
    summary: Counts
    categories: dict[str, str]
    """`pass`, `fail`, `partly measured`, `not measured` or, since version 3, `not applicable`."""
    latency: Latency
    metrics: MetricsRecord | None
    replay: Replay
    sandbox: dict[str, str]
    vulnerabilities: VulnerabilityCounts | None
    checks: list[Score]
    evidence: list[File]
    scope: list[str] | UnsetType = UNSET
    """The transports that the server is certified for."""
    gaps: list[str] | UnsetType = UNSET
    """What keeps the conclusion from `met` although nothing failed."""
    measurements: list[MeasurementRecord] | UnsetType = UNSET
