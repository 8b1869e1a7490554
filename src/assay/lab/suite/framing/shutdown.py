"""A stdio server ends when its standard input closes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from assay.lab.harness import Observation, Stage, Trace, check, observe, scenario, scripted
from assay.lab.harness.sabotage.saboteur import Conversation
from assay.lab.harness.sabotage.script import served
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.revision import Revision

# --- what is asked


PROMPT = 5.0
"""Seconds that a server has to end: the rule says "promptly", and clients seldom wait longer."""


@scenario(
    "The end of standard input",
    exercises=("framing.pure-stdout", "framing.ends-with-input"),
    transports=STDIO_ONLY,
)
async def drive_shutdown(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    patience = min(PROMPT, stage.patience)
    if await peer.stdio.end_input(patience) is None:
        peer.mark("still running", waited=patience)
    await peer.close()


# --- how it is judged


@check("The process exits when its input ends", requirements=("STD-12",), transports=STDIO_ONLY)
def judge_ends_with_input(trace: Trace) -> Iterator[Observation]:
    exits = [one for one in trace.frames if one.kind is Kind.EXIT]
    waited = {mark.connection: mark for mark in trace.marks("still running")}
    for end in trace.frames:
        if end.kind is not Kind.END or end.sender is not Sender.DRIVER:
            continue
        gone = next((one for one in exits if one.channel == end.channel and one.n > end.n), None)
        running = waited.get(end.connection)
        if gone is not None or running is not None:
            seconds = "" if running is None else running.info.get("waited")
            yield observe(
                "STD-12",
                gone is not None,
                end,
                *filter(None, (gone, running)),
                expected="the end of the process",
                observed=f"still running after {seconds} s",
            )


# --- what the checks must catch


@scripted("the process goes on when its input has ended", breaks="STD-12", silent=True)
async def stays(conversation: Conversation, revision: Revision) -> None:
    async for _ in served(conversation, revision):
        pass
    await asyncio.Event().wait()
