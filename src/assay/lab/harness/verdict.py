"""Verdicts: what a check saw, and what that means for one scenario."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame

from .reason import Reason, ReasonKind, restored


class Verdict(StrEnum):
    """Of a check, as `checks.json` writes it."""

    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    """A MUST is broken."""
    WARNING = "WARNING"
    """A SHOULD is broken."""
    SKIPPED = "SKIPPED"
    """Not applicable, or not observed: the reason says which."""
    INFO = "INFO"


class Outcome(StrEnum):
    """Of a scenario on one transport and revision."""

    PASSED = "passed"
    WARNED = "passed with warnings"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    """It proved nothing, or broke off."""
    NOT_APPLICABLE = "not applicable"


class Evidence(Protocol):
    """Anything that frames stand behind: a frame, a message, an exchange, an HTTP call, a probe."""

    @property
    def frames(self) -> tuple[Frame, ...]: ...


class Observation(Struct, frozen=True):
    """One place in a trace where a requirement could be seen to hold, or not to."""

    requirement: str
    holds: bool
    expected: str
    observed: str
    frames: tuple[int, ...]


def observe(
    requirement: str, holds: bool, *evidence: Evidence, expected: str, observed: object
) -> Observation:
    """State what was seen; `expected` and `observed` are shown when it does not hold."""
    numbers = sorted({frame.n for one in evidence for frame in one.frames})
    return Observation(requirement, holds, expected, str(observed), tuple(numbers))


class Finding(Struct, frozen=True):
    """An observation that a requirement is broken, with all that a reader needs to believe it."""

    requirement: str
    level: str
    statement: str
    link: str
    expected: str
    observed: str
    frames: list[int]
    excerpt: list[str] = []
    """The frames in short, one line each."""
    reproduce: str = ""
    title: str = ""
    """The fault in a few words; empty in runs stored before findings had titles."""


class CheckResult(Struct, frozen=True, omit_defaults=True):
    id: str
    title: str
    verdict: Verdict
    requirements: dict[str, str]
    """The rows that it cites and that are in force in this revision, each with its link."""
    observations: int = 0
    findings: list[Finding] = []
    reason: str = ""
    """Why it is skipped."""
    reason_kind: ReasonKind | None = None
    reason_options: list[str] = []

    @property
    def typed_reason(self) -> Reason | None:
        return restored(self.reason, self.reason_kind, self.reason_options)
