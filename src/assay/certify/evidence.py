"""Demands that are judged without a trace: SBOM, vulnerabilities, provenance, signature, measurements."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final

from msgspec import Struct

from assay.certify.bundle.bundle_manifest import Artifact, parse_moment
from assay.certify.bundle.inventory import Key, keys_of, listed_packages
from assay.certify.measurement.document import MeasurementDocument, stored_documents
from assay.certify.measurement.document import judge as judge_measurement
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.verdict import Verdict
from assay.signing import dsse
from assay.signing.dsse import InvalidEnvelope, Role, Trust

from .bundle import layout, provenance, sbom
from .profile_list import Demand, MeasuredBy, Profile
from .scoring import NOT_SUPPORTED, Evidence
from .vulnerabilities import report as vulnerabilities

SBOM: Final = "CONF-EVD-06.sbom"
VULNERABILITIES: Final = "CONF-EVD-06.vulnerabilities"
SIGNATURE: Final = "CONF-EVD-06.signature"
PROVENANCE: Final = "CONF-EVD-06.provenance"
NO_PYTHON: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "the server's packages are unknown; add --python EXE, --npm DIR or --sbom FILE",
    ("--python", "--npm", "--sbom"),
)
NOT_COMPARED: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "the SBOM is valid, but was not compared with what is installed; add --python EXE or --npm DIR",
    ("--python", "--npm"),
)
INCOMPLETE_SBOM: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "the SBOM is not known to list all that is installed; add --python EXE or --npm DIR",
    ("--python", "--npm"),
)
NO_ATTESTATION: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "no attestation of the build was given; add --attestation FILE and --artifact FILE",
    ("--attestation", "--artifact"),
)
NO_EXPORT: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "no export of known vulnerabilities was given; add --osv FILE",
    ("--osv",),
)
NO_KEY: Final = Reason(ReasonKind.NEEDS_OPTION, "the bundle is not signed; add --key FILE", ("--key",))
MAX_NAMES: Final = 5
"""Package names in a message."""


def not_measured(reason: Reason) -> Evidence:
    return Evidence(Verdict.SKIPPED, reason.text, reason.options, reason.kind)


class Installed(Struct, frozen=True):
    """What is installed, as far as it is known."""

    packages: frozenset[Key]
    kinds: frozenset[str]
    """The ecosystems in which all packages are known, as types of package URLs."""
    may_be_absent: frozenset[Key] = frozenset()
    """Packages that an SBOM may list although they are not installed."""


def judge_sbom(data: bytes, installed: Installed) -> Evidence:
    """Whether the SBOM is valid and lists exactly what is installed."""
    problem = _problem(data)
    if problem:
        return Evidence(Verdict.FAILURE, problem)
    packages = [package for package in listed_packages(data) if not package.is_platform]
    if not installed.kinds:
        return not_measured(NOT_COMPARED)
    listed = keys_of(packages, installed.kinds)
    if missing := installed.packages - listed:
        return Evidence(Verdict.FAILURE, f"installed but not listed: {_some(missing)}")
    if extra := listed - installed.packages - installed.may_be_absent:
        return Evidence(Verdict.FAILURE, f"listed but not installed: {_some(extra)}")
    if unnamed := [package.name for package in packages if package.key is None]:
        return Evidence(Verdict.WARNING, f"without a package URL: {', '.join(unnamed[:MAX_NAMES])}")
    without = sum(not (package.has_digest and package.has_licence) for package in packages)
    note = f"all {len(listed)} installed packages are listed"
    return Evidence(Verdict.SUCCESS, f"{note}, {without} without digest or licence" if without else note)


def judge_provenance(data: bytes, artifact: Artifact | None) -> Evidence:
    """Whether an attestation of the build is about the artifact."""
    try:
        attestations = provenance.read(data)
    except provenance.BadProvenance as error:
        return Evidence(Verdict.FAILURE, str(error))
    if artifact is None:
        return Evidence(Verdict.FAILURE, "no artifact is named that it could be about")
    about = [attestation for attestation in attestations if attestation.is_about(artifact)]
    if not about:
        return Evidence(Verdict.FAILURE, f"it is about other artifacts than {artifact.name}")
    return Evidence(
        Verdict.SUCCESS, f"{artifact.name} was built by {about[0].builder or 'an unnamed builder'}"
    )


def judge_vulnerabilities(data: bytes, now: datetime, bill: Evidence) -> Evidence:
    """`bill` is the result for the SBOM: what may leave packages out proves only what it lists."""
    try:
        judged = vulnerabilities.judge(vulnerabilities.read(data), now)
    except vulnerabilities.BadReport as error:
        return Evidence(Verdict.FAILURE, str(error))
    is_complete = bill.status in (Verdict.SUCCESS, Verdict.WARNING)
    return judged if is_complete or judged.status is Verdict.FAILURE else not_measured(INCOMPLETE_SBOM)


def judge_signature(envelope: bytes, trust: Trust) -> Evidence:
    """Whether an envelope verifies with the developer's key."""
    try:
        signed = dsse.verify(envelope, trust, Role.DEVELOPER)
    except InvalidEnvelope as error:
        return Evidence(Verdict.FAILURE, f"{error.reason}: {error}")
    return Evidence(Verdict.SUCCESS, f"signed with {signed.key_id}")


def rebuild(
    stored: Mapping[str, Evidence],
    files: Mapping[str, bytes],
    created: str,
    profile: Profile,
    artifact: Artifact | None = None,
) -> dict[str, Evidence]:
    """Judge the files of a bundle again, and keep the stored result where that is impossible.

    The environment is not available to a verifier, who checks the signatures in an earlier step.

    Raises:
        BadMeasurement: a measurement is invalid.
    """
    measured = [demand for demand in profile.demands if demand.by is MeasuredBy.MEASUREMENT]
    documents = stored_documents(files, (demand.id for demand in measured))
    bill = _rebuild_sbom(stored[SBOM], files.get(layout.SBOM, files.get(layout.SPDX)))
    return {
        **{demand.id: _rebuild_measurement(demand, stored.get(demand.id), documents) for demand in measured},
        SBOM: bill,
        PROVENANCE: (
            judge_provenance(files[layout.PROVENANCE], artifact)
            if layout.PROVENANCE in files
            else _unproved(stored.get(PROVENANCE, not_measured(NO_ATTESTATION)))
        ),
        VULNERABILITIES: (
            judge_vulnerabilities(files[layout.VULNERABILITIES], parse_moment(created), bill)
            if layout.VULNERABILITIES in files
            else _unproved(stored[VULNERABILITIES])
        ),
        SIGNATURE: stored[SIGNATURE],
    }


def _rebuild_measurement(
    demand: Demand, stored: Evidence | None, documents: Mapping[str, MeasurementDocument]
) -> Evidence:
    document = documents.get(demand.id)
    if document is not None:
        return judge_measurement(demand, document)
    return _unproved(stored or not_measured(NOT_SUPPORTED))


def _rebuild_sbom(stored: Evidence, data: bytes | None) -> Evidence:
    if data is None:
        return _unproved(stored)
    problem = _problem(data)
    return Evidence(Verdict.FAILURE, problem) if problem else stored


def _unproved(stored: Evidence) -> Evidence:
    """Without its file, a stored result counts as not measured."""
    return Evidence(Verdict.SKIPPED, stored.reason, stored.options, stored.kind)


def _problem(data: bytes) -> str:
    try:
        sbom.validate(data)
    except sbom.BadSbom as error:
        return str(error)
    return ""


def _some(packages: AbstractSet[Key]) -> str:
    names = sorted(f"{name} {version}" for _, name, version in packages)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
