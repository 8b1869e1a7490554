"""Why a bundle is refused: a reason for programs, the file, and a message for people."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from assay.signing import dsse


class RefusalReason(StrEnum):
    """In addition to the reasons of an envelope (`dsse.Reason`); docs/bundle.md explains each."""

    MISSING_FILE = "missing-file"
    UNFIT_FILE = "unfit-file"
    BAD_MANIFEST = "bad-manifest"
    EXPIRED = "expired"
    FROM_THE_FUTURE = "from-the-future"
    TOO_OLD = "too-old"
    ADDED_FILE = "added-file"
    CHANGED_FILE = "changed-file"
    TOO_LARGE = "too-large"
    WRONG_PROFILE = "wrong-profile"
    UNKNOWN_PROFILE = "unknown-profile"
    MISSING_ATTESTATION = "missing-attestation"
    STRANGE_ATTESTATION = "strange-attestation"
    BAD_STATEMENT = "bad-statement"
    WRONG_SUBJECT = "wrong-subject"
    WRONG_PREDICATE = "wrong-predicate"
    BAD_EVIDENCE = "bad-evidence"
    MISSING_TRACE = "missing-trace"
    WRONG_SUMMARY = "wrong-summary"
    WRONG_BADGE = "wrong-badge"
    WRONG_REPORT = "wrong-report"
    WRONG_LIST = "wrong-list"
    NO_ARTIFACT = "no-artifact"
    WRONG_ARTIFACT = "wrong-artifact"
    BROKEN_TRACE = "broken-trace"
    OTHER_VERDICT = "other-verdict"
    WRONG_RUN = "wrong-run"
    CHANGED_DEFINITION = "changed-definition"


class Refusal(Struct, frozen=True):
    reason: str
    where: str
    """A file of the bundle, or a frame of one."""
    detail: str


class BundleRefused(Exception):
    """A step of the verification failed, with one refusal at least."""

    def __init__(self, refusals: Iterable[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__(*self.refusals)


def refuse(reason: RefusalReason, where: str, detail: object) -> BundleRefused:
    return BundleRefused([Refusal(reason, where, str(detail))])


def not_signed(error: dsse.InvalidEnvelope, where: str) -> BundleRefused:
    return BundleRefused([Refusal(error.reason, where, error.detail)])
