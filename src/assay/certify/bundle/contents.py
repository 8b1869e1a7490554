"""Compose the files of a bundle from a run and the other inputs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from msgspec import Struct

from assay.certify import badge, evidence, report, summary
from assay.certify.measurement.collection import Collected
from assay.certify.metrics import Metrics, Source
from assay.certify.profile_list import Profile
from assay.certify.scoring import SCOPE, Evidence, find_unmeasured
from assay.certify.summary_form import Summary
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.run import Run
from assay.signing import dsse
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey

from . import attestation, layout, statement
from .bundle_manifest import Artifact, format_moment
from .capability_files import capability_files
from .supply_chain import SupplyChain, examine

NOTHING_MEASURED: Final = Collected()


class Inputs(Struct, frozen=True):
    """The inputs of a certification besides the run, already validated."""

    server: str
    version: str
    profile: Profile
    created: datetime
    lifetime: timedelta
    artifact: Artifact | None = None
    key: SigningKey | None = None
    supply: SupplyChain = SupplyChain()
    metrics: Metrics | None = None
    harness: str | None = None
    """The id of the key that signed the metrics."""
    platform: str | None = None
    """Of the run in the metrics."""
    registry: bytes | None = None
    scope: tuple[str, ...] = SCOPE
    """The transports that the server is certified for."""
    harness_key: SigningKey | None = None
    """Signs benchmarks."""


class BundleContents(Struct, frozen=True):
    summary: Summary
    files: dict[str, bytes]
    """For `BundleSource.files`: without the profile, which is added there."""


def compose(
    run: Run,
    run_files: Mapping[str, bytes],
    inputs: Inputs,
    suite: Suite,
    measured: Collected = NOTHING_MEASURED,
) -> BundleContents:
    """All files of a bundle; `run_files` are those of the run.

    Raises:
        BadEnvironment, BadTree, BadSbom: what is installed cannot be read.
        BadExport: the OSV export cannot be read.
    """
    files = {**run_files, **capability_files(run, run_files.__getitem__), **measured.files}
    if inputs.metrics is not None:
        files[layout.METRICS] = inputs.metrics.data
    if inputs.registry is not None:
        files[layout.REGISTRY_ENTRY] = inputs.registry
    supply = examine(inputs.supply, inputs.artifact, inputs.created)
    files |= supply.files
    judged = {
        **measured.evidence,
        **supply.evidence,
        evidence.SIGNATURE: _signature(inputs, files),
    }
    sources = {**files, layout.PROFILE: inputs.profile.data}
    document = summary.summarise(sources, _context(inputs), judged, find_unmeasured(run, suite))
    encoded = summary.encode(document)
    files |= {
        layout.SUMMARY: encoded,
        layout.BADGE: badge.badge(encoded),
        layout.SHIELDS: badge.shields(encoded),
        layout.REPORT_TEXT: report.markdown(document).encode(),
        layout.REPORT_PAGE: report.html(document).encode(),
    }
    return BundleContents(document, files)


def _context(inputs: Inputs) -> summary.SummaryContext:
    return summary.SummaryContext(
        inputs.server,
        inputs.version,
        inputs.artifact,
        format_moment(inputs.created),
        format_moment(inputs.created + inputs.lifetime),
        summary.this_host(),
        inputs.key.public.id if inputs.key else None,
        inputs.harness,
        inputs.metrics.source if inputs.metrics else Source.SELF_REPORTED,
        inputs.platform,
        scope=inputs.scope,
    )


def _signature(inputs: Inputs, files: Mapping[str, bytes]) -> Evidence:
    """Whether a statement about the run, signed with the key, verifies with its public key."""
    if inputs.key is None:
        return evidence.not_measured(evidence.NO_KEY)
    digest = sha256(files[layout.RUN]).hexdigest()
    claim = statement.statement({layout.RUN: digest}, attestation.TEST_RESULT, {})
    envelope = dsse.sign(statement.encode(claim), inputs.key)
    return evidence.judge_signature(envelope, Trust([(inputs.key.public, Role.DEVELOPER)]))
