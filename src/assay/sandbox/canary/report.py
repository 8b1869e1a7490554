"""Run the canary in a sandbox, and what it reported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from assay.sandbox.error import SandboxError
from assay.sandbox.host import launch_command
from assay.sandbox.launch.plan import Plan
from assay.sandbox.readable import readable

from .catalogue import ESCAPES
from .escape import Area, Bait, Outcome
from .host import VARIABLE, laid_out

PATIENCE: Final = 300.0
LARGEST: Final = 1024 * 1024
"""Bytes of a report."""
PACKAGE: Final = Path(__file__).parents[2]
START: Final = (
    f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); "
    "from assay.sandbox.canary.__main__ import main; main(sys.argv[1:])"
)
FIX: Final = (
    "run `python -m assay.sandbox.canary` by hand to see its output, and report this as a fault of Assay"
)


class Attempted(Struct, frozen=True):
    """One escape, and how it ended."""

    id: str
    outcome: Outcome
    how: str

    @property
    def title(self) -> str:
        return _BY_ID[self.id].title

    @property
    def area(self) -> Area:
        return _BY_ID[self.id].area


_BY_ID: Final = {item.id: item for item in ESCAPES}


class Report(Struct, frozen=True):
    attempts: tuple[Attempted, ...]

    def of(self, area: Area) -> tuple[Attempted, ...]:
        """The attempts that were possible on this machine."""
        return tuple(
            item for item in self.attempts if item.area is area and item.outcome is not Outcome.NOT_POSSIBLE
        )

    def escapes(self, area: Area | None = None) -> tuple[Attempted, ...]:
        return tuple(
            item for item in self.attempts if item.outcome is Outcome.SUCCEEDED and area in (None, item.area)
        )

    @property
    def text(self) -> str:
        """As `49/49`: blocked, of those that were possible."""
        counts = Counter(item.outcome for item in self.attempts)
        blocked = counts[Outcome.BLOCKED]
        return f"{blocked}/{blocked + counts[Outcome.SUCCEEDED]}"

    def as_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def parse_report(data: bytes) -> Report:
    """
    Raises:
        ValueError: it is not a report of all escapes, each once.
    """
    if len(data) > LARGEST:
        raise ValueError(f"a report of {len(data)} bytes: the limit is {LARGEST}")
    report = msgspec.json.decode(data, type=Report)
    if sorted(item.id for item in report.attempts) != sorted(_BY_ID):
        raise ValueError("not every escape was tried once")
    return report


def with_canary(plan: Plan, python: str) -> Plan:
    """The same plan, with the files that the canary needs itself."""
    own = readable((python,), Path("/"), [PACKAGE])
    return plan._replace(read=tuple(sorted({*plan.read, *own}, key=lambda path: (path.count("/"), path))))


def _environment(plan: Plan, bait: Bait) -> dict[str, str]:
    relayed = {plan.relay: f"http://127.0.0.1:{bait.relayed}"} if plan.relay else {}
    return {**os.environ, VARIABLE: "not for servers", **relayed}


def run_canary(plan: Plan, selected: Sequence[str] = (), python: str = sys.executable) -> Report:
    """Try all escapes, or the selected ones. The canary needs the standard library only, so any Python will
    do.

    Raises:
        SandboxError: the canary did not run, or printed something else.
    """
    plan = with_canary(plan, python)
    with laid_out(plan.scratch, str(PACKAGE)) as bait:
        secret = os.open(f"{bait.directory}/secret", os.O_RDONLY)
        words = (python, "-I", "-c", START)
        command = launch_command(plan, (*words, msgspec.json.encode(bait._asdict()).decode(), *selected))
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=[secret],
                env=_environment(plan, bait),
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SandboxError(f"the canary did not end within {PATIENCE:g} s", FIX) from error
        finally:
            os.close(secret)
    try:
        attempts = msgspec.json.decode(done.stdout, type=tuple[Attempted, ...])
    except msgspec.DecodeError as error:
        detail = done.stderr.decode(errors="replace").strip()[-500:]
        problem = f"the canary ended with status {done.returncode} and no report: {detail}"
        raise SandboxError(problem, FIX) from error
    return Report(attempts)
