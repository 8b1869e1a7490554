"""Bundles for tests: a signed run of the lab on a bundled server, and functions that modify one."""

import asyncio
import base64
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from assay.certify import badge, evidence, metrics, profile_list, report, summary
from assay.certify.bundle import layout, sbom
from assay.certify.bundle.bundle_manifest import PAYLOAD_TYPE, Artifact, format_moment
from assay.certify.bundle.directory import BundleSource, write
from assay.certify.bundle.manifest import encode, take
from assay.certify.bundle.manifest import list_files as manifest_files
from assay.certify.bundle.run_collector import RunCollector
from assay.certify.measurement.document import judge, stored_documents
from assay.certify.scoring import Evidence
from assay.certify.summary_form import Host
from assay.certify.vulnerabilities import report as vulnerabilities
from assay.certify.vulnerabilities.osv import ScanResult
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import dump_run, parse_run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.verdict import Verdict
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.signing import canonical, dsse, keys
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey
from tests.certify.environments import environment, installed
from tests.driving.warm_python import warm_python

DEVELOPER, HARNESS, STRANGER = keys.generate(), keys.generate(), keys.generate()
TRUST = Trust([(DEVELOPER.public, Role.DEVELOPER), (HARNESS.public, Role.HARNESS)])
CREATED = datetime(2030, 1, 1, tzinfo=UTC)
NOW = CREATED + timedelta(days=1)
LIFETIME = timedelta(days=90)
WHEEL = b"the server, as it is installed"
ARTIFACT = Artifact("my_server-1.0-py3-none-any.whl", sha256(WHEEL).hexdigest())
SCENARIOS = ("tpt.stdio-framing", "jrpc.ids")
RESULTS = {
    "benchmark_id": "b",
    "runs": [{"server": "my-server", "metrics": {"sse_latency_ms": {"p95": 12.5}}}],
}
GENERATED = {
    layout.MANIFEST,
    layout.PROFILE,
    layout.SUMMARY,
    layout.BADGE,
    layout.SHIELDS,
    layout.REPORT_PAGE,
    layout.REPORT_TEXT,
}
HOST = Host("Linux", "6", "x86_64", "3.11.7")


def run_files(created: datetime = CREATED) -> dict[str, bytes]:
    """The files of a run of two scenarios at two revisions, with another date."""
    stored = _recorded()
    run = parse_run(stored[layout.RUN], layout.RUN)
    then = msgspec.structs.replace(run, started=f"{created:%Y-%m-%dT%H:%M:%S}.000Z")
    return {**stored, layout.RUN: dump_run(then)}


@cache
def _recorded() -> dict[str, bytes]:
    collector = RunCollector()
    chosen = Selection(scenarios=SCENARIOS, revisions=(HANDSHAKE[-1], PER_REQUEST[-1]))
    order = RunSettings(suite_named("marketplace"), chosen, jobs=2)
    subject = CommandSubject((warm_python(), "-m", "assay", "serve", "reference"))
    runner = Runner(order, [subject], lambda event: None, collector.keep)
    collector.add(asyncio.run(runner.run()), Redaction())
    return collector.files


@cache
def supply_chain() -> dict[str, bytes]:
    bill = sbom.describe(environment(installed("mcp")), serial=UUID(int=1), time=CREATED)
    known = vulnerabilities.describe(ScanResult((), (), (), 3, "2029-12-31T00:00:00Z", "ab" * 32))
    return {layout.SBOM: bill, layout.VULNERABILITIES: vulnerabilities.encode(known)}


def files(created: datetime = CREATED, lifetime: timedelta = LIFETIME) -> dict[str, bytes]:
    """All files of a bundle."""
    measured = {"metrics.json": metrics.sign(json.dumps(RESULTS).encode(), HARNESS)}
    raw = {**run_files(created), **supply_chain(), **measured}
    return finished(raw, created, lifetime)


def finished(raw: dict[str, bytes], created: datetime, lifetime: timedelta) -> dict[str, bytes]:
    """Add the summary and everything that is built from it."""
    good = Evidence(Verdict.SUCCESS, "it is")
    judged = {name: good for name in (evidence.SBOM, evidence.SIGNATURE)}
    judged[evidence.VULNERABILITIES] = evidence.judge_vulnerabilities(
        raw[layout.VULNERABILITIES], created, judged[evidence.SBOM]
    )
    edition = profile_list.shipped(profile_list.INTELGRAPH)
    documents = stored_documents(raw, [demand.id for demand in edition.demands if demand.limit])
    by_id = {demand.id: demand for demand in edition.demands}
    judged |= {name: judge(by_id[name], document) for name, document in documents.items()}
    context = summary.SummaryContext(
        "my-server", "1.0", ARTIFACT, format_moment(created), format_moment(created + lifetime), HOST,
        DEVELOPER.public.id, metrics.signer_named(raw[layout.METRICS]), metrics.Source.HARNESS,
    )  # fmt: skip
    document = summary.summarise({**raw, layout.PROFILE: profile()}, context, judged, {})
    return {**raw, **views(summary.encode(document))}


def views(encoded: bytes) -> dict[str, bytes]:
    """A summary, its badges and reports."""
    document = summary.read(encoded)
    return {
        layout.SUMMARY: encoded,
        layout.BADGE: badge.badge(encoded),
        layout.SHIELDS: badge.shields(encoded),
        layout.REPORT_PAGE: report.html(document).encode(),
        layout.REPORT_TEXT: report.markdown(document).encode(),
    }


def profile() -> bytes:
    return profile_list.shipped(profile_list.INTELGRAPH).data


def contents(created: datetime = CREATED, lifetime: timedelta = LIFETIME) -> BundleSource:
    return BundleSource(
        server="my-server",
        version="1.0",
        artifact=ARTIFACT,
        profile_id=profile_list.INTELGRAPH,
        profile=profile(),
        files=files(created, lifetime),
        created=created,
        lifetime=lifetime,
    )


def make(directory: Path, created: datetime = CREATED, **changed: Any) -> Path:
    """Write a valid bundle, or one with other contents."""
    key: SigningKey | None = changed.pop("key", DEVELOPER)
    write(directory, replace(contents(created), **changed), key, harness=HARNESS.public.id)
    return directory


def listed(directory: Path) -> dict[str, Any]:
    envelope = json.loads((directory / layout.MANIFEST).read_bytes())
    manifest: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return manifest


def sign_again(
    directory: Path,
    key: SigningKey = DEVELOPER,
    change: Callable[[dict[str, Any]], object] = lambda manifest: None,
    payload_type: str = PAYLOAD_TYPE,
) -> None:
    """Sign a new manifest of the current files, as any owner of a key can."""
    manifest = listed(directory)
    manifest["files"] = json.loads(encode(take(directory, frozenset({layout.MANIFEST}))))["files"]
    change(manifest)
    (directory / layout.MANIFEST).write_bytes(dsse.sign(canonical.encode(manifest), key, payload_type))


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON document in place, in the format of evidence."""
    value = json.loads(path.read_bytes())
    change(value)
    path.write_bytes(json.dumps(value, indent=2).encode() + b"\n")


def finish_again(directory: Path) -> None:
    """Rebuild summary, badges and statements from the current files, as a careful forger would."""
    taken = {name: path.read_bytes() for name, path in manifest_files(directory).items()}
    raw = {
        name: data
        for name, data in taken.items()
        if name not in GENERATED and not name.startswith(layout.ATTESTATIONS)
    }
    _write_again(directory, finished(raw, CREATED, LIFETIME))


def attest_again(directory: Path) -> None:
    """The same, with the current summary."""
    taken = {name: path.read_bytes() for name, path in manifest_files(directory).items()}
    content = {
        name: data
        for name, data in taken.items()
        if not name.startswith((layout.MANIFEST, "profile", layout.ATTESTATIONS))
    }
    _write_again(directory, {**content, **views(content[layout.SUMMARY])})


def _write_again(directory: Path, content: dict[str, bytes]) -> None:
    shutil.rmtree(directory)
    write(directory, replace(contents(), files=content), DEVELOPER, harness=HARNESS.public.id)
