"""Verify a bundle offline, step by step, with the verifier's own trusted keys.

Later steps run only if the signature and the files are good: unsigned data is never parsed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from assay.certify.bundle.bundle_manifest import BundleManifest
from assay.signing.dsse import Trust

from . import evidence, integrity, measured
from .refusal import BundleRefused, Refusal, RefusalReason
from .stored_bundle import CannotRead as CannotRead
from .stored_bundle import StoredBundle, check_directory
from .stored_run import run


class Status(StrEnum):
    GOOD = "good"
    REFUSED = "refused"
    NOT_REACHED = "not reached"
    """It depends on a step that was refused."""


@dataclass(frozen=True)
class Step:
    name: str
    status: Status
    note: str


@dataclass(frozen=True)
class VerificationReport:
    """The result of a verification."""

    manifest: BundleManifest | None
    """None if it is not signed by a trusted key."""
    steps: tuple[Step, ...]
    refusals: tuple[Refusal, ...]
    conclusion: str
    """The conclusion of the summary: a valid bundle may prove that a server does not meet its profile."""
    self_attested: bool
    """Only the developer has signed."""

    @property
    def ok(self) -> bool:
        return not self.refusals


StepFunction = Callable[[StoredBundle], str]

# Name, function, and whether the following steps depend on it.
STEPS: Final[tuple[tuple[str, StepFunction, bool], ...]] = (
    ("signature", integrity.signature, True),
    ("validity", integrity.validity, False),
    ("files", integrity.files, True),
    ("profile", integrity.profile, False),
    ("attestations", integrity.attestations, False),
    ("run", run, False),
    ("summary", evidence.summary, False),
    ("badge", evidence.badge, False),
    ("metrics", evidence.metrics, False),
    ("measurements", measured.measurements, False),
    ("scope", measured.scope, False),
    ("artifact", integrity.artifact, False),
)


def _lab_steps() -> tuple[tuple[str, StepFunction, bool], ...]:
    """The steps that need the lab, which is imported only for them."""
    from .capability_lists import lists
    from .rejudge import rejudge, report

    return (
        ("rejudge", rejudge, False),
        ("figures", measured.figures, False),
        ("lists", lists, False),
        ("report", report, False),
    )


def verify(
    directory: Path,
    trust: Trust,
    *,
    now: datetime,
    max_age: timedelta | None = None,
    artifact: Path | None = None,
    rejudge: bool = False,
) -> VerificationReport:
    """Verify a bundle; `rejudge` also judges its traces again.

    Raises:
        CannotRead: the directory or a file is unreadable.
    """
    check_directory(directory)
    bundle = StoredBundle(directory, trust, now, max_age, artifact)
    steps: list[Step] = []
    refusals: list[Refusal] = []
    is_reached = True
    for name, function, is_required in (*STEPS, *(_lab_steps() if rejudge else ())):
        step, causes = (
            _run_step(name, function, bundle) if is_reached else (Step(name, Status.NOT_REACHED, ""), ())
        )
        steps.append(step)
        refusals += causes
        is_reached = is_reached and not (causes and is_required)
    self_attested = bundle.harness in ("", bundle.signer)
    return VerificationReport(
        bundle.verified_manifest, tuple(steps), tuple(refusals), bundle.conclusion, self_attested
    )


def _run_step(name: str, function: StepFunction, bundle: StoredBundle) -> tuple[Step, tuple[Refusal, ...]]:
    try:
        return Step(name, Status.GOOD, function(bundle)), ()
    except BundleRefused as error:
        refusals = error.refusals
    except RecursionError:
        refusals = (Refusal(RefusalReason.BAD_EVIDENCE, name, "a document is nested too deeply"),)
    note = refusals[0].reason if len(refusals) == 1 else f"{len(refusals)} reasons"
    return Step(name, Status.REFUSED, note), refusals
