"""Observations, findings and verdicts of checks, and outcomes of scenarios."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame

from .reason import Reason, ReasonKind, restored


class Verdict(StrEnum):
    """Verdict of a check, as in `checks.json`."""

    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    """A MUST is broken."""
    WARNING = "WARNING"
    """A SHOULD is broken."""
    SKIPPED = "SKIPPED"
    """Not applicable, or not observed: the reason says which."""
    INFO = "INFO"


class Outcome(StrEnum):
    """Outcome of a scenario on one transport and revision."""

    PASSED = "passed"
    WARNED = "passed with warnings"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    """The scenario proved nothing, or broke off."""
    NOT_APPLICABLE = "not applicable"


class Evidence(Protocol):
    """Anything with frames: a frame, a message, an exchange, an HTTP call, a probe."""

    @property
    def frames(self) -> tuple[Frame, ...]: ...


class Observation(Struct, frozen=True):
    """A place in a trace that shows whether a requirement holds."""

    requirement: str
    holds: bool
    expected: str
    observed: str
    frames: tuple[int, ...]


def observe(
    requirement: str, holds: bool, *evidence: Evidence, expected: str, observed: object
) -> Observation:
    """Make an observation; a finding shows `expected` and `observed` if the requirement does not hold."""
    numbers = sorted({frame.n for item in evidence for frame in item.frames})
    return Observation(requirement, holds, expected, str(observed), tuple(numbers))


class Finding(Struct, frozen=True):
    """A broken requirement, with the evidence for it."""

    requirement: str
    level: str
    statement: str
    link: str
    expected: str
    observed: str
    frames: list[int]
    excerpt: list[str] = []
    """Excerpts of the frames, one line each."""
    reproduce: str = ""
    title: str = ""
    """The fault; empty in runs stored before findings had titles."""
    follows_from: str = ""
    """The broken requirement that is the cause; then this finding does not count. Its own requirement if the
    same fault counts in another scenario."""
    fix: str = ""
    """What to change; empty in runs stored before findings said it."""


class CheckResult(Struct, frozen=True, omit_defaults=True):
    id: str
    title: str
    verdict: Verdict
    requirements: dict[str, str]
    """The requirements that are in force at this revision, each with its link."""
    observations: int = 0
    findings: list[Finding] = []
    reason: str = ""
    """Why the check was skipped."""
    reason_kind: ReasonKind | None = None
    reason_options: list[str] = []
    held: dict[str, int] = {}
    """How often each requirement was observed to hold."""
    expected: list[str] = []
    """What was observed if nothing was broken, in the words of the check; the first few."""
    at: float = 0.0
    """Seconds from the start of the scenario to the frame that decided the verdict."""

    @property
    def typed_reason(self) -> Reason | None:
        return restored(self.reason, self.reason_kind, self.reason_options)
