"""`summary.json`: all results of a certification in one document.

It is a pure function of the files of a bundle and of a `SummaryContext`. A verifier calls `rebuild` on the
stored files and expects the same bytes: JSON indented by two, fields in the order of `summary_form`, and a
final newline.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct, UnsetType

from assay.certify.bundle.bundle_manifest import Artifact, ProfileReference
from assay.certify.measurement.document import BadMeasurement
from assay.lab.harness.reason import stored as typed_fields
from assay.lab.harness.run.run import BadRun, Run, parse_run
from assay.lab.harness.run.version_1 import reason_of_demand
from assay.lab.harness.verdict import Verdict

from . import evidence as other_evidence
from . import metrics, profile_list
from .bundle import layout
from .conclusion import conclude, gaps
from .derived_score import with_derived
from .measurement_record import measurement_records, replay_rate, sandbox_facts, with_benchmarks
from .metrics import BadMetrics, BenchmarkRun, Source
from .scoring import SCOPE, Evidence, Measure, Score, Unmeasured, score
from .summary_form import (
    SCHEMA,
    Counts,
    Export,
    File,
    Host,
    JudgedServer,
    MeasurementRecord,
    MetricsRecord,
    Replay,
    RunRecord,
    Schema,
    Summary,
    Tool,
    VulnerabilityCounts,
)
from .summary_version import VERSIONS, MetricsContext
from .vulnerabilities import report as vulnerabilities

SCOPES: Final = (SCOPE, *((name,) for name in SCOPE))
LARGEST: Final = 64 * 1024 * 1024
MEDIA_TYPES: Final[Mapping[str, str]] = {
    layout.RUN: "application/json",
    layout.SBOM: "application/vnd.cyclonedx+json",
    layout.SPDX: "application/spdx+json",
    layout.PROVENANCE: "application/jsonl",
    layout.VULNERABILITIES: "application/json",
    layout.METRICS: "application/json",
    layout.REGISTRY_ENTRY: "application/json",
    "registry/mcp-tools.json": "application/json",
    "registry/mcp-resources.json": "application/json",
    "registry/mcp-prompts.json": "application/json",
}
"""The files that count as evidence, with their media types."""


class BadSummary(ValueError):
    """The summary is invalid, or cannot be built from these files; the message gives the cause."""


class SummaryContext(Struct, frozen=True):
    """What a summary states that the files of the bundle do not contain."""

    server: str
    version: str
    artifact: Artifact | None
    generated_at: str
    expires_at: str
    host: Host
    developer: str | None = None
    """The id of the key that signs the bundle."""
    harness: str | None = None
    """The id of the key that signed the metrics."""
    source: Source = Source.SELF_REPORTED
    platform: str | None = None
    """Of the run in the metrics."""
    schema: Schema = SCHEMA
    scope: tuple[str, ...] = SCOPE
    """The transports that the server is certified for."""


def this_host() -> Host:
    return Host(platform.system(), platform.release(), platform.machine(), platform.python_version())


def summarise(
    files: Mapping[str, bytes],
    context: SummaryContext,
    evidence: Mapping[str, Evidence],
    unmeasured: Mapping[str, Unmeasured],
) -> Summary:
    """Build a summary from the files of a bundle, which include `run/run.json` and `profile.toml`.

    Raises:
        BadSummary: a file is missing or invalid.
    """
    run, profile = _run(files), _profile(files)
    scores = with_derived(score(run, profile, evidence, unmeasured, context.scope), run, profile)
    judged = [record.transport for record in run.subjects if record.facts]
    version = VERSIONS[context.schema]
    measured, record = _metrics(files, context)
    measurements = _measurements(files, profile)
    summary = Summary(
        schema=context.schema,
        profile=ProfileReference(profile.id, profile.sha256),
        tool=Tool("assay", run.assay),
        run=_record(files[layout.RUN], run, context.host),
        server=_server(run, context, judged),
        generated_at=context.generated_at,
        expires_at=context.expires_at,
        attested=version.attested(context.developer, context.harness),
        conclusion=conclude(scores, run, profile, context.scope),
        summary=_counts(scores),
        categories={name: state(entries) for name, entries in _by_category(scores).items()},
        latency=version.latency(measured, judged),
        metrics=record,
        replay=Replay(replay_rate(measurements)),
        sandbox=sandbox_facts(measurements),
        vulnerabilities=_vulnerabilities(files),
        checks=scores,
        evidence=_evidence_files(files),
    )
    if not version.states_scope:
        return summary
    open_points = list(gaps(scores, run, profile, context.scope))
    return _with_scope(summary, measurements, context.scope, open_points)


def _with_scope(
    summary: Summary, measurements: list[MeasurementRecord], scope: Iterable[str], open_points: list[str]
) -> Summary:
    """The fields since version 3."""
    categories = {name: scoped_state(entries) for name, entries in _by_category(summary.checks).items()}
    return msgspec.structs.replace(
        summary,
        categories=categories,
        latency=with_benchmarks(summary.latency, measurements),
        scope=list(scope),
        gaps=open_points,
        measurements=measurements,
    )


def _evidence_files(files: Mapping[str, bytes]) -> list[File]:
    measured = {name: "application/json" for name in sorted(files) if is_measurement(name)}
    return [
        File(name, sha256(files[name]).hexdigest(), kind)
        for name, kind in {**MEDIA_TYPES, **measured}.items()
        if name in files
    ]


def is_measurement(name: str) -> bool:
    """Whether the file is the document of a measurement."""
    head, _, demand = name.partition(layout.MEASUREMENTS)
    return not head and demand.endswith(".json") and "/" not in demand


def encode(summary: Summary) -> bytes:
    return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"


def read(data: bytes) -> Summary:
    """
    Raises:
        BadSummary: the data is not a summary.
    """
    if len(data) > LARGEST:
        raise BadSummary(f"not a summary: {len(data)} bytes exceed the limit of {LARGEST}")
    try:
        summary = msgspec.json.decode(data, type=Summary)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadSummary(f"not a summary: {error}") from error
    return msgspec.structs.replace(summary, checks=[_typed(entry) for entry in summary.checks])


def _typed(entry: Score) -> Score:
    """Add the kind of the reason, which summaries of runs in format 1 lack."""
    if entry.measure is Measure.MEASURED or entry.reason_kind is not None:
        return entry
    reason = reason_of_demand(entry.reason, applies=entry.measure is not Measure.NOT_APPLICABLE)
    return msgspec.structs.replace(entry, **typed_fields(reason))


def rebuild(files: Mapping[str, bytes]) -> bytes:
    """Build the summary of stored files again: the same bytes, if the stored one is correct.

    The context, and why demands were not measured, are copied from the stored summary.

    Raises:
        BadSummary: a file is missing or invalid.
    """
    stored = read(_file(files, layout.SUMMARY))
    claimed = {
        entry.id: Evidence(entry.status, entry.reason, tuple(entry.reason_options), entry.reason_kind)
        for entry in stored.checks
    }
    unmeasured = {
        entry.id: Unmeasured(entry.measure, entry.typed_reason)
        for entry in stored.checks
        if entry.typed_reason is not None
    }
    try:
        evidence = other_evidence.rebuild(
            claimed, files, stored.generated_at, _profile(files), stored.server.artifact
        )
    except (KeyError, ValueError) as error:
        raise BadSummary(f"not a summary: {error!r}") from error
    return encode(summarise(files, _context(stored), evidence, unmeasured))


def _context(stored: Summary) -> SummaryContext:
    return SummaryContext(
        stored.server.name,
        stored.server.version,
        stored.server.artifact,
        stored.generated_at,
        stored.expires_at,
        stored.run.host,
        stored.attested.developer,
        stored.attested.harness,
        stored.metrics.source if stored.metrics else Source.SELF_REPORTED,
        platform_of(stored.metrics),
        stored.schema,
        _scope(stored),
    )


def _scope(stored: Summary) -> tuple[str, ...]:
    """
    Raises:
        BadSummary: it is not a scope.
    """
    if isinstance(stored.scope, UnsetType):
        return SCOPE
    if not stored.scope or tuple(stored.scope) not in SCOPES:
        raise BadSummary(f"not a summary: the scope is {stored.scope}")
    return tuple(stored.scope)


def platform_of(record: MetricsRecord | None) -> str | None:
    """The platform in a record, which version 1 lacks."""
    return record.platform if record and isinstance(record.platform, str) else None


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise BadSummary(f"{name} is missing")
    return files[name]


def _run(files: Mapping[str, bytes]) -> Run:
    try:
        return parse_run(_file(files, layout.RUN), layout.RUN)
    except BadRun as error:
        raise BadSummary(str(error)) from error


def _profile(files: Mapping[str, bytes]) -> profile_list.Profile:
    try:
        return profile_list.read(_file(files, layout.PROFILE))
    except profile_list.BadProfile as error:
        raise BadSummary(f"{layout.PROFILE}: {error}") from error


def _record(data: bytes, run: Run, host: Host) -> RunRecord:
    try:
        ended = datetime.fromisoformat(run.started) + timedelta(seconds=run.seconds)
    except (ValueError, OverflowError) as error:
        raise BadSummary(f"{layout.RUN}: {error}") from error
    finished = ended.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return RunRecord(sha256(data).hexdigest(), run.started, finished, host)


def _server(run: Run, context: SummaryContext, judged: list[str]) -> JudgedServer:
    revisions = sorted({facts.revision for record in run.subjects for facts in record.facts})
    return JudgedServer(
        context.server, context.version, context.artifact, revisions, list(dict.fromkeys(judged))
    )


def _counts(scores: Iterable[Score]) -> Counts:
    entries = list(scores)
    scored = [entry for entry in entries if entry.scored and entry.measure is Measure.MEASURED]
    failed = sum(entry.status is Verdict.FAILURE for entry in scored)
    return Counts(
        passed=len(scored) - failed,
        failed=failed,
        warned=sum(entry.status is Verdict.WARNING for entry in entries),
        skipped=sum(entry.measure is Measure.NOT_APPLICABLE for entry in entries),
        not_measured=sum(entry.measure is Measure.NOT_MEASURED for entry in entries),
        scored=len(scored),
        pass_rate=round((len(scored) - failed) / len(scored), 4) if scored else None,
    )


def _by_category(scores: Iterable[Score]) -> dict[str, list[Score]]:
    by_name: dict[str, list[Score]] = {}
    for entry in scores:
        by_name.setdefault(entry.category, []).append(entry)
    return by_name


def scoped_state(scores: Sequence[Score]) -> str:
    """As `state`, which summaries without a scope show; a category outside the scope is not applicable."""
    measures = {entry.measure for entry in scores if entry.scored}
    return "not applicable" if measures == {Measure.NOT_APPLICABLE} else state(scores)


def state(scores: Iterable[Score]) -> str:
    """The state of several demands, without those that are not scored or not applicable."""
    counting = [entry for entry in scores if entry.scored and entry.measure is not Measure.NOT_APPLICABLE]
    measured = [entry for entry in counting if entry.measure is Measure.MEASURED]
    if any(entry.status is Verdict.FAILURE for entry in measured):
        return "fail"
    if not measured:
        return "not measured"
    return "pass" if measured == counting else "partly measured"


def _metrics(
    files: Mapping[str, bytes], context: SummaryContext
) -> tuple[BenchmarkRun | None, MetricsRecord | None]:
    data = files.get(layout.METRICS)
    if data is None:
        return None, None
    version = VERSIONS[context.schema]
    about = MetricsContext(context.server, context.source, context.harness, context.platform)
    try:
        run = version.run(metrics.read(data), about)
    except BadMetrics as error:
        raise BadSummary(f"{layout.METRICS}: {error}") from error
    return run, version.record(run, about, data)


def _measurements(files: Mapping[str, bytes], profile: profile_list.Profile) -> list[MeasurementRecord]:
    try:
        return measurement_records(files, profile)
    except BadMeasurement as error:
        raise BadSummary(f"{layout.MEASUREMENTS}: {error}") from error


def _vulnerabilities(files: Mapping[str, bytes]) -> VulnerabilityCounts | None:
    data = files.get(layout.VULNERABILITIES)
    if data is None:
        return None
    try:
        report = vulnerabilities.read(data)
    except vulnerabilities.BadReport as error:
        raise BadSummary(f"{layout.VULNERABILITIES}: {error}") from error
    return VulnerabilityCounts(
        **report.counts,
        undecided=len(report.undecided),
        unmatched=len(report.unmatched),
        waived=report.waived,
        db=Export(report.export_sha256, report.newest, report.records),
    )
