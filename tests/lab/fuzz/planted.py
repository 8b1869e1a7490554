"""Fuzzing of the small server with a planted fault, for tests."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.lab.fuzz.case import Case
from assay.lab.fuzz.fuzzer import Fuzzer, FuzzOrder
from assay.lab.fuzz.jury import Jury
from assay.lab.fuzz.place import Place
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE

FAULTY = Path(__file__).with_name("faulty.py")
NEWEST = HANDSHAKE[-1]


def command(fault: str) -> tuple[str, ...]:
    return (sys.executable, str(FAULTY), fault)


def again(place: Place, case: Case) -> str:
    return f"again {len(case.steps)}"


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def fuzzed(fault: str, seed: int, **order: object) -> tuple[Fuzzer, Run]:
    """What is found in that server until the first finding; many cases, however slow the machine is."""
    usual = {"seconds": 25.0, "most": 1, "revisions": (NEWEST,), "conditions": Conditions(patience=1.0)}
    fuzzer = Fuzzer(
        FuzzOrder(seed, **{**usual, **order}),  # type: ignore[arg-type]
        Jury(protocol_suite()),
        [CommandSubject(command(fault))],
        keep=keep,
        again=again,
    )
    return fuzzer, await fuzzer.run()
