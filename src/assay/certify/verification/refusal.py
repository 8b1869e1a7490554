"""Why a bundle is refused: one word for programs, where it shows, and a line for people."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from assay.signing import dsse


class Reason(StrEnum):
    """Reasons beside those of an envelope (`dsse.Reason`); docs/bundle.md explains each."""

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


class Refusal(Struct, frozen=True):
    reason: str
    where: str
    """A file of the bundle, or a frame of one."""
    detail: str


class Refused(Exception):
    """A step of verification came to nothing; holds at least one refusal."""

    def __init__(self, refusals: Iterable[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__(*self.refusals)


def refused(reason: Reason, where: str, detail: object) -> Refused:
    return Refused([Refusal(reason, where, str(detail))])


def not_signed(error: dsse.InvalidEnvelope, where: str) -> Refused:
    return Refused([Refusal(error.reason, where, error.detail)])
