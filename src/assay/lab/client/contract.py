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


IN_TIME, ALIVE, WELL = "CLIENT-01", "CLIENT-02", "CLIENT-03"


@check("The client ends by itself, and well", requirements=(IN_TIME, ALIVE, WELL), everywhere=True)
def judge_ends(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(TIMED_OUT):
        yield observe(IN_TIME, False, mark, expected="the client to end by itself", observed="it was stopped")
    may_fail = any(mark.info.get("may_fail") for mark in trace.marks(SETTING))
    for frame in (one for one in trace.frames if one.kind is Kind.EXIT):
        status = frame.info.get("status")
        if not isinstance(status, int):
            continue
        told = describe_exit(status)
        yield observe(IN_TIME, True, frame, expected="", observed="")
        yield observe(ALIVE, status >= 0, frame, expected="no death by a signal", observed=told)
        if status >= 0 and not may_fail:
            yield observe(WELL, status == 0, frame, expected="exit status 0", observed=told)


# --- what the checks must catch


@misbehaving("it never ends", breaks="CLIENT-01", limit=0.5)
async def hangs(client: ScriptedClient) -> None:
    await client.open()
    await asyncio.Event().wait()


@misbehaving("it ends with an error where nothing went wrong", breaks="CLIENT-03")
async def fails(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"])
    raise StepFailed("nothing went wrong, and it is said nevertheless")


PROCESSES: Final = (
    ClientSaboteur(
        "contract.dies",
        "it dies by a signal",
        "CLIENT-02",
        transports=EVERY,
        command=("sh", "-c", "kill -SEGV $$"),
    ),
    ClientSaboteur(
        "contract.gives-up",
        "it exits with status 3 and never connects",
        "CLIENT-03",
        transports=EVERY,
        command=("sh", "-c", "echo no such thing >&2; exit 3"),
    ),
)
