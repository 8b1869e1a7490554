"""Fuzzing the server with a planted fault, for tests."""

from __future__ import annotations

from pathlib import Path

from assay.lab.fuzz.case import Case
from assay.lab.fuzz.fuzzer import Fuzzer, FuzzOrder
from assay.lab.fuzz.judge import TraceJudge
from assay.lab.fuzz.target import FuzzTarget
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

FAULTY = Path(__file__).with_name("faulty.py")
NEWEST = HANDSHAKE[-1]


def command(fault: str) -> tuple[str, ...]:
    return (warm_python(), str(FAULTY), fault)


def reproduce(target: FuzzTarget, case: Case) -> str:
    return f"command {len(case.steps)}"


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def fuzzed(fault: str, seed: int, **order: object) -> tuple[Fuzzer, Run]:
    """Fuzz the server up to the first finding; the time limit allows for a slow machine."""
    defaults = {"seconds": 25.0, "most": 1, "revisions": (NEWEST,), "conditions": Conditions(patience=1.0)}
    fuzzer = Fuzzer(
        FuzzOrder(seed, **{**defaults, **order}),  # type: ignore[arg-type]
        TraceJudge(protocol_suite()),
        [CommandSubject(command(fault))],
        keep=keep,
        reproduce=reproduce,
    )
    return fuzzer, await fuzzer.run()
