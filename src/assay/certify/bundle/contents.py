"""All files of a bundle, from a run and what was given beside it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from assay.certify import badge, evidence, report, summary
from assay.certify.metrics import Metrics, Source
from assay.certify.profile_list import Profile
from assay.certify.scoring import Evidence, excuses
from assay.certify.summary_form import Summary
from assay.certify.vulnerabilities import osv
from assay.certify.vulnerabilities import report as vulnerabilities
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.run import Run
from assay.signing import dsse
from assay.signing.dsse import Role, Trust
from assay.signing.keys import SigningKey

from . import attestation, environment, layout, sbom, statement
from .bundle_manifest import Artifact, spelled
from .capability_files import capability_files


class Inputs(Struct, frozen=True):
    """What was given, read and found good."""

    server: str
    version: str
    profile: Profile
    created: datetime
    lifetime: timedelta
    artifact: Artifact | None = None
    key: SigningKey | None = None
    python: Path | None = None
    osv: Path | None = None
    waived: tuple[str, ...] = ()
    metrics: Metrics | None = None
    harness: str | None = None
    """The id of the key that signed the metrics."""
    registry: bytes | None = None


class BundleContents(Struct, frozen=True):
    summary: Summary
    files: dict[str, bytes]
    """As `bundle.Contents` wants them: without the profile, which is added there."""


def compose(run: Run, kept: Mapping[str, bytes], inputs: Inputs, suite: Suite) -> BundleContents:
    """`kept` are the files of the run.

    Raises:
        BadEnvironment, BadSbom: the interpreter does not say what is installed.
        BadExport: the OSV export cannot be read.
    """
    files = {**kept, **capability_files(run, kept.__getitem__)}
    if inputs.metrics is not None:
        files[layout.METRICS] = inputs.metrics.data
    if inputs.registry is not None:
        files[layout.REGISTRY_ENTRY] = inputs.registry
    shown = _supply(inputs, files) | {evidence.SIGNATURE: _signature(inputs, files)}
    everything = {**files, layout.PROFILE: inputs.profile.data}
    made = summary.summarise(everything, _occasion(inputs), shown, excuses(run, suite))
    written = summary.encode(made)
    files |= {
        layout.SUMMARY: written,
        layout.BADGE: badge.badge(written),
        layout.SHIELDS: badge.shields(written),
        layout.REPORT_TEXT: report.markdown(made).encode(),
        layout.REPORT_PAGE: report.html(made).encode(),
    }
    return BundleContents(made, files)


def _occasion(inputs: Inputs) -> summary.Occasion:
    return summary.Occasion(
        inputs.server,
        inputs.version,
        inputs.artifact,
        spelled(inputs.created),
        spelled(inputs.created + inputs.lifetime),
        summary.this_host(),
        inputs.key.public.id if inputs.key else None,
        inputs.harness,
        inputs.metrics.source if inputs.metrics else Source.SELF_REPORTED,
    )


def _supply(inputs: Inputs, files: dict[str, bytes]) -> dict[str, Evidence]:
    """Puts SBOM and vulnerabilities among the files, as far as they can be known."""
    if inputs.python is None:
        missing = evidence.not_measured(evidence.NO_PYTHON)
        return {evidence.SBOM: missing, evidence.VULNERABILITIES: missing}
    found = environment.inspect(inputs.python)
    document = sbom.describe(found, serial=uuid4(), time=inputs.created)
    files[layout.SBOM] = document
    listed = evidence.judge_sbom(document, environment.inspect(inputs.python))
    measured = osv.measure(document, inputs.osv)
    if isinstance(measured, osv.NotMeasured):
        return {evidence.SBOM: listed, evidence.VULNERABILITIES: evidence.not_measured(evidence.NO_EXPORT)}
    written = vulnerabilities.encode(vulnerabilities.describe(measured, inputs.waived))
    files[layout.VULNERABILITIES] = written
    return {
        evidence.SBOM: listed,
        evidence.VULNERABILITIES: evidence.judge_vulnerabilities(written, inputs.created),
    }


def _signature(inputs: Inputs, files: Mapping[str, bytes]) -> Evidence:
    """Whether what the key signs is verified by its public half: a statement about the run."""
    if inputs.key is None:
        return evidence.not_measured(evidence.NO_KEY)
    digest = sha256(files[layout.RUN]).hexdigest()
    claimed = statement.statement({layout.RUN: digest}, attestation.TEST_RESULT, {})
    envelope = dsse.sign(statement.encode(claimed), inputs.key)
    return evidence.judge_signature(envelope, Trust([(inputs.key.public, Role.DEVELOPER)]))
