"""How a client's process must end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, ClientSaboteur, misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.client_run import SETTING, TIMED_OUT
from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.trace.frame import Kind

# --- how it is judged


@check(
    "The client exits with status 0, in time",
    requirements=("CLIENT-01", "CLIENT-02", "CLIENT-03"),
    everywhere=True,
)
def judge_ends(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(TIMED_OUT):
        expected, observed = "the client to exit within its time limit", "it was stopped"
        yield observe("CLIENT-01", False, mark, expected=expected, observed=observed)
    may_fail = any(mark.info.get("may_fail") for mark in trace.marks(SETTING))
    for frame in (frame for frame in trace.frames if frame.kind is Kind.EXIT):
        status = frame.info.get("status")
        if not isinstance(status, int):
            continue
        end = describe_exit(status)
        yield observe("CLIENT-01", True, frame, expected="", observed="")
        yield observe("CLIENT-02", status >= 0, frame, expected="no death by a signal", observed=end)
        if status >= 0 and not may_fail:
            error = frame.info.get("error")
            observed = f"{end}: {error}" if error else end
            yield observe("CLIENT-03", status == 0, frame, expected="exit status 0", observed=observed)


# --- what the checks must catch


@misbehaving("never exits", breaks="CLIENT-01", limit=0.5)
async def hangs(client: ScriptedClient) -> None:
    await client.open()
    await asyncio.Event().wait()


@misbehaving("exits with an error although every step succeeded", breaks="CLIENT-03")
async def fails(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"])
    raise StepFailed("every step succeeded")


PROCESSES: Final = tuple(
    ClientSaboteur(name, fault, breaks, transports=EVERY, command=("sh", "-c", script))
    for name, fault, breaks, script in (
        ("contract.dies", "is killed by a signal", "CLIENT-02", "kill -SEGV $$"),
        (
            "contract.gives-up",
            "exits with status 3 and never connects",
            "CLIENT-03",
            "echo no such thing >&2; exit 3",
        ),
    )
)
