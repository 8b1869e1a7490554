"""Whether a bundle proves what it says: step by step, offline, with keys that the verifier has brought.

What is refused is never read further: without a good signature nothing is, and without the files that were
signed none of them is understood.
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

from . import evidence, steps
from .case import CannotRead as CannotRead
from .case import Case, is_there
from .refusal import Reason, Refusal, Refused
from .stored_run import run


class Status(StrEnum):
    GOOD = "good"
    REFUSED = "refused"
    NOT_REACHED = "not reached"
    """It stands on a step that was refused."""


@dataclass(frozen=True)
class Step:
    name: str
    status: Status
    note: str


@dataclass(frozen=True)
class Report:
    """What verification came to."""

    manifest: BundleManifest | None
    """None if it is not signed by a key that is trusted."""
    steps: tuple[Step, ...]
    refusals: tuple[Refusal, ...]
    conclusion: str
    """How far the server meets the profile: a good bundle may prove that it does not."""
    self_attested: bool
    """Nobody but the developer vouches for anything."""

    @property
    def ok(self) -> bool:
        return not self.refusals


Verifying = Callable[[Case], str]

# Name, what it does, and whether what follows stands on it.
STEPS: Final[tuple[tuple[str, Verifying, bool], ...]] = (
    ("signature", steps.signature, True),
    ("validity", steps.validity, False),
    ("files", steps.files, True),
    ("profile", steps.profile, False),
    ("attestations", steps.attestations, False),
    ("run", run, False),
    ("summary", evidence.summary, False),
    ("badge", evidence.badge, False),
    ("metrics", evidence.metrics, False),
    ("artifact", steps.artifact, False),
)


def _again() -> tuple[tuple[str, Verifying, bool], ...]:
    """Steps that take the whole lab, which is not needed for the others."""
    from .capability_lists import lists
    from .rejudge import rejudge, report

    return ("rejudge", rejudge, False), ("lists", lists, False), ("report", report, False)


def verify(
    directory: Path,
    trust: Trust,
    *,
    now: datetime,
    max_age: timedelta | None = None,
    artifact: Path | None = None,
    rejudge: bool = False,
) -> Report:
    """
    Raises:
        CannotRead: there is no such directory, or a file cannot be read.
    """
    is_there(directory)
    case = Case(directory, trust, now, max_age, artifact)
    taken: list[Step] = []
    refusals: list[Refusal] = []
    is_reached = True
    for name, look, is_ground in (*STEPS, *(_again() if rejudge else ())):
        step, found = _take(name, look, case) if is_reached else (Step(name, Status.NOT_REACHED, ""), ())
        taken.append(step)
        refusals += found
        is_reached = is_reached and not (found and is_ground)
    own = case.harness in ("", case.signer)
    return Report(case.manifest, tuple(taken), tuple(refusals), case.conclusion, own)


def _take(name: str, look: Verifying, case: Case) -> tuple[Step, tuple[Refusal, ...]]:
    try:
        return Step(name, Status.GOOD, look(case)), ()
    except Refused as error:
        found = error.refusals
    except RecursionError:
        found = (Refusal(Reason.BAD_EVIDENCE, name, "a document is nested too deeply to be read"),)
    note = found[0].reason if len(found) == 1 else f"{len(found)} reasons"
    return Step(name, Status.REFUSED, note), found
