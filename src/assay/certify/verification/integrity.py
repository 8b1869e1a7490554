"""The steps that check signatures, files and attestations. Each one returns a note, or refuses the bundle."""

from __future__ import annotations

from collections.abc import Iterator

from assay.certify.bundle import attestation, bundle_manifest
from assay.certify.bundle.attestation import StatementContext
from assay.certify.bundle.bundle_manifest import PAYLOAD_TYPE, Artifact
from assay.certify.bundle.layout import ATTESTATIONS, ENVELOPE, MANIFEST, PROFILE
from assay.certify.bundle.manifest import BadManifest, Manifest, compare
from assay.certify.bundle.statement import BadStatement, Statement, as_document
from assay.certify.bundle.statement import read as read_statement
from assay.certify.profile_list import BadProfile, shipped
from assay.signing import dsse
from assay.signing.canonical import MAX_BYTES, encodes
from assay.signing.dsse import Role

from .refusal import BundleRefused, Refusal, RefusalReason, not_signed, refuse
from .stored_bundle import MAX_EVIDENCE, SKEW, CannotRead, StoredBundle, read_plain


def signature(bundle: StoredBundle) -> str:
    data = read_plain(bundle.directory, MANIFEST, MAX_BYTES)
    try:
        signed = dsse.verify(data, bundle.trust, Role.DEVELOPER, PAYLOAD_TYPE)
        manifest = bundle_manifest.read(signed.payload)
    except dsse.InvalidEnvelope as error:
        raise not_signed(error, MANIFEST) from error
    except BadManifest as error:
        raise refuse(RefusalReason.BAD_MANIFEST, MANIFEST, error) from error
    if manifest.roles.get(signed.key_id) != Role.DEVELOPER:
        detail = f"the manifest does not list its signer {signed.key_id} as developer"
        raise refuse(RefusalReason.BAD_MANIFEST, MANIFEST, detail)
    bundle.verified_manifest, bundle.signer = manifest, signed.key_id
    return f"{manifest.server.name} {manifest.server.version}, by the trusted developer {signed.key_id}"


def validity(bundle: StoredBundle) -> str:
    created, expires = bundle.manifest.created, bundle.manifest.expires
    begin, end = bundle_manifest.parse_moment(created), bundle_manifest.parse_moment(expires)
    if begin > bundle.now + SKEW:
        raise refuse(RefusalReason.FROM_THE_FUTURE, MANIFEST, f"created at {created}, in the future")
    if end <= bundle.now:
        raise refuse(RefusalReason.EXPIRED, MANIFEST, f"valid until {expires}")
    if bundle.max_age is not None and bundle.now - begin > bundle.max_age:
        raise refuse(RefusalReason.TOO_OLD, MANIFEST, f"created at {created}, longer ago than allowed")
    return f"created at {created}, valid until {expires}"


def files(bundle: StoredBundle) -> str:
    large = [entry.path for entry in bundle.manifest.files if entry.size > MAX_EVIDENCE]
    if large:
        raise refuse(RefusalReason.TOO_LARGE, large[0], f"larger than the limit of {MAX_EVIDENCE} bytes")
    try:
        difference = compare(Manifest(bundle.manifest.files), bundle.directory, frozenset({MANIFEST}))
    except BadManifest as error:
        if isinstance(error.__cause__, OSError):
            raise CannotRead(str(error)) from error
        raise refuse(RefusalReason.UNFIT_FILE, str(bundle.directory), error) from error
    refusals = [
        Refusal(reason, name, detail)
        for reason, detail, names in (
            (RefusalReason.MISSING_FILE, "listed, but the file does not exist", difference.missing),
            (RefusalReason.ADDED_FILE, "the manifest does not list it", difference.added),
            (RefusalReason.CHANGED_FILE, "not the file that was signed", difference.changed),
        )
        for name in names
    ]
    if refusals:
        raise BundleRefused(refusals)
    return f"{len(bundle.entries)} files match their size and SHA-256; none missing, none added"


def profile(bundle: StoredBundle) -> str:
    reference = bundle.manifest.profile
    entry = bundle.entries.get(PROFILE)
    if entry is None or entry.sha256 != reference.sha256:
        raise refuse(RefusalReason.WRONG_PROFILE, PROFILE, "its SHA-256 differs from the manifest's profile")
    if _known_digest(reference.id) != reference.sha256:
        detail = f"this version does not know {reference.id} with SHA-256 {reference.sha256}"
        raise refuse(RefusalReason.UNKNOWN_PROFILE, PROFILE, detail)
    return f"{reference.id}, sha256:{reference.sha256}"


def _known_digest(name: str) -> str | None:
    try:
        return shipped(name).sha256
    except BadProfile:
        return None


def attestations(bundle: StoredBundle) -> str:
    sources = {source for source, _, _ in attestation.KINDS.values()} | {PROFILE}
    evidence = {name: bundle.content(name) for name in sources & bundle.entries.keys()}
    manifest = bundle.manifest
    context = StatementContext(manifest.profile.id, manifest.created, manifest.artifact)
    try:
        expected = attestation.claims(evidence, context)
    except BadManifest as error:
        raise refuse(RefusalReason.BAD_EVIDENCE, ATTESTATIONS, error) from error
    present = {name for name in bundle.entries if name.startswith(ATTESTATIONS)}
    refusals = [*_unpaired(expected.keys() - present, present - expected.keys())]
    for name in sorted(expected.keys() & present):
        refusals += _differences(bundle, name, expected[name])
    if refusals:
        raise BundleRefused(refusals)
    return (
        ", ".join(name.removeprefix(ATTESTATIONS).removesuffix(ENVELOPE) for name in sorted(expected))
        or "none"
    )


def _unpaired(missing: set[str], unexpected: set[str]) -> Iterator[Refusal]:
    for name in sorted(missing):
        yield Refusal(RefusalReason.MISSING_ATTESTATION, name, "its evidence is not attested")
    for name in sorted(unexpected):
        yield Refusal(RefusalReason.STRANGE_ATTESTATION, name, "this bundle has no such evidence")


def _differences(bundle: StoredBundle, name: str, expected: Statement) -> Iterator[Refusal]:
    try:
        signed = dsse.verify(bundle.content(name), bundle.trust, Role.DEVELOPER)
        claim = read_statement(signed.payload)
    except dsse.InvalidEnvelope as error:
        yield Refusal(error.reason, name, error.detail)
    except BadStatement as error:
        yield Refusal(RefusalReason.BAD_STATEMENT, name, str(error))
    else:
        if signed.key_id != bundle.signer:
            detail = f"signed by {signed.key_id}, not by the signer of the manifest"
            yield Refusal(dsse.Reason.UNKNOWN_KEY, name, detail)
        elif claim.subject != expected.subject:
            detail = "its subjects are not the evidence and artifact of this bundle"
            yield Refusal(RefusalReason.WRONG_SUBJECT, name, detail)
        elif not encodes(as_document(expected), signed.payload):  # bytes, because 1 == True in Python
            yield Refusal(RefusalReason.WRONG_PREDICATE, name, "it differs from its evidence")


def artifact(bundle: StoredBundle) -> str:
    listed = bundle.manifest.artifact
    if bundle.artifact is None:
        return f"{listed.name}, sha256:{listed.sha256}; not compared" if listed else "none"
    if listed is None:
        detail = f"the bundle names no artifact, so {bundle.artifact} cannot be compared"
        raise refuse(RefusalReason.NO_ARTIFACT, MANIFEST, detail)
    try:
        artifact = Artifact.of(bundle.artifact)
    except OSError as error:
        raise CannotRead(f"cannot read {bundle.artifact}: {error.strerror}") from error
    if artifact.sha256 != listed.sha256:
        detail = f"the SHA-256 of {bundle.artifact} differs from the bundle's artifact {listed.name}"
        raise refuse(RefusalReason.WRONG_ARTIFACT, MANIFEST, detail)
    return f"{bundle.artifact} is {listed.name}, sha256:{listed.sha256}"
