"""`summary.json`: all that was found, in one document.

It is a pure function of the files of a bundle and of what only its maker can say (`Occasion`). `again` makes
it anew from stored files, so that whoever verifies finds the same bytes: JSON, indented by two, fields in
the order of `summary_form`, ended by a newline.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from assay.certify.bundle.bundle_manifest import Artifact, Profile
from assay.lab.harness.reason import stored as typed_fields
from assay.lab.harness.run.run import BadRun, Run, parse_run
from assay.lab.harness.run.version_1 import reason_of_demand
from assay.lab.harness.verdict import Verdict

from . import evidence as evidences
from . import metrics, profile_list
from .bundle import layout
from .metrics import BadMetrics, Figures, Source
from .scoring import Evidence, Measure, Score, Unmeasured, conclude, score
from .summary_form import (
    SCHEMA,
    Attested,
    Counts,
    Export,
    File,
    Host,
    Latency,
    MetricsRecord,
    Replay,
    RunRecord,
    Server,
    Summary,
    Tool,
    VulnerabilityCounts,
)
from .vulnerabilities import report as vulnerabilities

LARGEST: Final = 64 * 1024 * 1024
MEDIA_TYPES: Final[Mapping[str, str]] = {
    layout.RUN: "application/json",
    layout.SBOM: "application/vnd.cyclonedx+json",
    layout.VULNERABILITIES: "application/json",
    layout.METRICS: "application/json",
    layout.REGISTRY_ENTRY: "application/json",
    "registry/mcp-tools.json": "application/json",
    "registry/mcp-resources.json": "application/json",
    "registry/mcp-prompts.json": "application/json",
}
"""What counts as evidence."""


class BadSummary(ValueError):
    """No summary, or none that can be made of these files; the text says why."""


class Occasion(Struct, frozen=True):
    """What only the maker of a bundle can say."""

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


def this_host() -> Host:
    return Host(platform.system(), platform.release(), platform.machine(), platform.python_version())


def summarise(
    files: Mapping[str, bytes],
    occasion: Occasion,
    evidence: Mapping[str, Evidence],
    excuses: Mapping[str, Unmeasured],
) -> Summary:
    """The files are those of the bundle, `run/run.json` and `profile.toml` among them.

    Raises:
        BadSummary: one of them is missing, or cannot be read.
    """
    run, profile = _run(files), _profile(files)
    scores = score(run, profile, evidence, excuses)
    judged = [record.transport for record in run.subjects if record.facts]
    figures, record = _metrics(files, occasion)
    return Summary(
        schema=SCHEMA,
        profile=Profile(profile.id, profile.sha256),
        tool=Tool("assay", run.assay),
        run=_record(files[layout.RUN], run, occasion.host),
        server=_server(run, occasion, judged),
        generated_at=occasion.generated_at,
        expires_at=occasion.expires_at,
        attested=_attested(occasion),
        conclusion=conclude(scores, judged, profile),
        summary=_counts(scores),
        categories=_categories(scores),
        latency=Latency(figures.latency_ms, figures.sse_latency_ms, figures.cold_start_ms),
        metrics=record,
        replay=Replay(),
        sandbox={},
        vulnerabilities=_vulnerabilities(files),
        checks=scores,
        evidence=[
            File(name, sha256(files[name]).hexdigest(), kind)
            for name, kind in MEDIA_TYPES.items()
            if name in files
        ],
    )


def encode(summary: Summary) -> bytes:
    return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"


def read(data: bytes) -> Summary:
    """
    Raises:
        BadSummary: these bytes are none.
    """
    if len(data) > LARGEST:
        raise BadSummary(f"no summary: {len(data)} bytes, which is more than {LARGEST}")
    try:
        found = msgspec.json.decode(data, type=Summary)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadSummary(f"no summary: {error}") from error
    return msgspec.structs.replace(found, checks=[_typed(one) for one in found.checks])


def _typed(found: Score) -> Score:
    """Before runs of format 2, a summary gave its reasons as text only."""
    if found.measure is Measure.MEASURED or found.reason_kind is not None:
        return found
    reason = reason_of_demand(found.reason, applies=found.measure is not Measure.NOT_APPLICABLE)
    return msgspec.structs.replace(found, **typed_fields(reason))


def again(files: Mapping[str, bytes]) -> bytes:
    """The summary of stored files, made anew: the same bytes, if it says what they show.

    From the old one are taken what only its maker could say, and why what was not measured was not.

    Raises:
        BadSummary: one of the files is missing, or cannot be read.
    """
    stored = read(_file(files, layout.SUMMARY))
    said = {one.id: Evidence(one.status, one.reason, tuple(one.reason_options)) for one in stored.checks}
    excuses = {
        one.id: Unmeasured(one.measure, one.typed_reason)
        for one in stored.checks
        if one.typed_reason is not None
    }
    try:
        shown = evidences.again(said, files, stored.generated_at)
    except (KeyError, ValueError) as error:
        raise BadSummary(f"no summary: {error!r}") from error
    return encode(summarise(files, _occasion(stored), shown, excuses))


def _occasion(stored: Summary) -> Occasion:
    return Occasion(
        stored.server.name,
        stored.server.version,
        stored.server.artifact,
        stored.generated_at,
        stored.expires_at,
        stored.run.host,
        stored.attested.developer,
        stored.attested.harness,
        stored.metrics.source if stored.metrics else Source.SELF_REPORTED,
    )


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise BadSummary(f"there is no {name}")
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


def _server(run: Run, occasion: Occasion, judged: list[str]) -> Server:
    revisions = sorted({facts.revision for record in run.subjects for facts in record.facts})
    return Server(
        occasion.server, occasion.version, occasion.artifact, revisions, list(dict.fromkeys(judged))
    )


def _attested(occasion: Occasion) -> Attested:
    own = occasion.harness in (None, occasion.developer)
    return Attested(occasion.developer, occasion.harness, own)


def _counts(scores: Iterable[Score]) -> Counts:
    found = list(scores)
    scored = [one for one in found if one.scored and one.measure is Measure.MEASURED]
    failed = sum(one.status is Verdict.FAILURE for one in scored)
    return Counts(
        passed=len(scored) - failed,
        failed=failed,
        warned=sum(one.status is Verdict.WARNING for one in found),
        skipped=sum(one.measure is Measure.NOT_APPLICABLE for one in found),
        not_measured=sum(one.measure is Measure.NOT_MEASURED for one in found),
        scored=len(scored),
        pass_rate=round((len(scored) - failed) / len(scored), 4) if scored else None,
    )


def _categories(scores: Iterable[Score]) -> dict[str, str]:
    by_name: dict[str, list[Score]] = {}
    for one in scores:
        by_name.setdefault(one.category, []).append(one)
    return {name: state(found) for name, found in by_name.items()}


def state(scores: Iterable[Score]) -> str:
    """What several demands come to. What is not scored, or does not apply, is left aside."""
    counting = [one for one in scores if one.scored and one.measure is not Measure.NOT_APPLICABLE]
    measured = [one for one in counting if one.measure is Measure.MEASURED]
    if any(one.status is Verdict.FAILURE for one in measured):
        return "fail"
    if not measured:
        return "not measured"
    return "pass" if measured == counting else "partly measured"


def _metrics(files: Mapping[str, bytes], occasion: Occasion) -> tuple[Figures, MetricsRecord | None]:
    data = files.get(layout.METRICS)
    if data is None:
        return Figures(), None
    try:
        figures = metrics.read(data).of(occasion.server) or Figures()
    except BadMetrics as error:
        raise BadSummary(f"{layout.METRICS}: {error}") from error
    digest = sha256(data).hexdigest()
    return figures, MetricsRecord(occasion.source, occasion.harness, digest, figures.error_rate)


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
