"""The steps of verification: each says in a line what it found good, or refuses."""

from __future__ import annotations

from collections.abc import Iterator

from assay.certify.bundle import attestation, bundle_manifest
from assay.certify.bundle.attestation import Occasion
from assay.certify.bundle.bundle_manifest import PAYLOAD_TYPE, Artifact
from assay.certify.bundle.layout import ATTESTATIONS, ENVELOPE, MANIFEST, PROFILE
from assay.certify.bundle.manifest import BadManifest, Manifest, compare
from assay.certify.bundle.statement import BadStatement, Statement
from assay.certify.bundle.statement import encode as encode_statement
from assay.certify.bundle.statement import read as read_statement
from assay.certify.profile_list import BadProfile, shipped
from assay.signing import dsse
from assay.signing.canonical import MAX_BYTES
from assay.signing.dsse import Role

from .case import MAX_EVIDENCE, SKEW, CannotRead, Case, read_plain
from .refusal import Reason, Refusal, Refused, not_signed, refused


def signature(case: Case) -> str:
    data = read_plain(case.directory, MANIFEST, MAX_BYTES)
    try:
        signed = dsse.verify(data, case.trust, Role.DEVELOPER, PAYLOAD_TYPE)
        listed = bundle_manifest.read(signed.payload)
    except dsse.InvalidEnvelope as error:
        raise not_signed(error, MANIFEST) from error
    except BadManifest as error:
        raise refused(Reason.BAD_MANIFEST, MANIFEST, error) from error
    if listed.roles.get(signed.key_id) != Role.DEVELOPER:
        detail = f"the manifest does not name {signed.key_id}, which signed it, as developer"
        raise refused(Reason.BAD_MANIFEST, MANIFEST, detail)
    case.manifest, case.signer = listed, signed.key_id
    return f"of {listed.server.name} {listed.server.version}, by the pinned developer {signed.key_id}"


def validity(case: Case) -> str:
    begin, end = (bundle_manifest.moment(text) for text in (case.listed.created, case.listed.expires))
    if begin > case.now + SKEW:
        raise refused(Reason.FROM_THE_FUTURE, MANIFEST, f"made at {case.listed.created}, which is to come")
    if end <= case.now:
        raise refused(Reason.EXPIRED, MANIFEST, f"it held until {case.listed.expires}")
    if case.max_age is not None and case.now - begin > case.max_age:
        raise refused(Reason.TOO_OLD, MANIFEST, f"made at {case.listed.created}, longer ago than allowed")
    return f"made at {case.listed.created}, holds until {case.listed.expires}"


def files(case: Case) -> str:
    large = [entry.path for entry in case.listed.files if entry.size > MAX_EVIDENCE]
    if large:
        raise refused(
            Reason.TOO_LARGE, large[0], f"of more than {MAX_EVIDENCE} bytes, which nothing here has"
        )
    try:
        found = compare(Manifest(case.listed.files), case.directory, frozenset({MANIFEST}))
    except BadManifest as error:
        if isinstance(error.__cause__, OSError):
            raise CannotRead(str(error)) from error
        raise refused(Reason.UNFIT_FILE, str(case.directory), error) from error
    if found:
        gone = (Refusal(Reason.MISSING_FILE, name, "listed, and not there") for name in found.missing)
        come = (Refusal(Reason.ADDED_FILE, name, "there, and not listed") for name in found.added)
        other = (Refusal(Reason.CHANGED_FILE, name, "not the file that was signed") for name in found.changed)
        raise Refused([*gone, *come, *other])
    return f"{len(case.entries)} files, each with its size and SHA-256, none missing, none added"


def profile(case: Case) -> str:
    listed = case.listed.profile
    entry = case.entries.get(PROFILE)
    if entry is None or entry.sha256 != listed.sha256:
        raise refused(Reason.WRONG_PROFILE, PROFILE, "not the list that the manifest names by its SHA-256")
    if _known_digest(listed.id) != listed.sha256:
        detail = f"{listed.id} with SHA-256 {listed.sha256} is no list that this version knows"
        raise refused(Reason.UNKNOWN_PROFILE, PROFILE, detail)
    return f"{listed.id}, sha256:{listed.sha256}"


def _known_digest(name: str) -> str | None:
    try:
        return shipped(name).sha256
    except BadProfile:
        return None


def attestations(case: Case) -> str:
    sources = {source for source, _, _ in attestation.KINDS.values()} | {PROFILE}
    evidence = {name: case.content(name) for name in sources & case.entries.keys()}
    occasion = Occasion(case.listed.profile.id, case.listed.created, case.listed.artifact)
    try:
        expected = attestation.claims(evidence, occasion)
    except BadManifest as error:
        raise refused(Reason.BAD_EVIDENCE, ATTESTATIONS, error) from error
    found = {name for name in case.entries if name.startswith(ATTESTATIONS)}
    refusals = [*_unpaired(expected.keys() - found, found - expected.keys())]
    for name in sorted(expected.keys() & found):
        refusals += _differences(case, name, expected[name])
    if refusals:
        raise Refused(refusals)
    return (
        ", ".join(name.removeprefix(ATTESTATIONS).removesuffix(ENVELOPE) for name in sorted(expected))
        or "none"
    )


def _unpaired(missing: set[str], strange: set[str]) -> Iterator[Refusal]:
    for name in sorted(missing):
        yield Refusal(Reason.MISSING_ATTESTATION, name, "its evidence is there, and nobody attests it")
    for name in sorted(strange):
        yield Refusal(Reason.STRANGE_ATTESTATION, name, "it attests no evidence in this bundle")


def _differences(case: Case, name: str, expected: Statement) -> Iterator[Refusal]:
    try:
        signed = dsse.verify(case.content(name), case.trust, Role.DEVELOPER)
        claimed, due = read_statement(signed.payload), encode_statement(expected)
    except dsse.InvalidEnvelope as error:
        yield Refusal(error.reason, name, error.detail)
    except BadStatement as error:
        yield Refusal(Reason.BAD_STATEMENT, name, str(error))
    else:
        if signed.key_id != case.signer:
            yield Refusal(
                dsse.Reason.UNKNOWN_KEY, name, f"by {signed.key_id}, not by who signed the manifest"
            )
        elif claimed.subject != expected.subject:
            yield Refusal(
                Reason.WRONG_SUBJECT, name, "it is not about the evidence and artifact of this bundle"
            )
        elif signed.payload != due:  # bytes: to Python, 1 is true
            yield Refusal(Reason.WRONG_PREDICATE, name, "it says something else than its evidence")


def artifact(case: Case) -> str:
    listed = case.listed.artifact
    if case.artifact is None:
        return f"{listed.name}, sha256:{listed.sha256}; not compared" if listed else "none named"
    if listed is None:
        raise refused(
            Reason.NO_ARTIFACT, MANIFEST, f"the bundle is about no artifact, so not about {case.artifact}"
        )
    try:
        given = Artifact.of(case.artifact)
    except OSError as error:
        raise CannotRead(f"cannot read {case.artifact}: {error.strerror}") from error
    if given.sha256 != listed.sha256:
        detail = f"the bundle is about {listed.name} with another SHA-256 than {case.artifact}"
        raise refused(Reason.WRONG_ARTIFACT, MANIFEST, detail)
    return f"{case.artifact} is {listed.name}, sha256:{listed.sha256}"
