"""A process whose input ends, and one that is asked to end."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import STDIO_ONLY

PROMPT = 5.0
"""Seconds that the profile gives a server to end."""
RUNNING = "still running"


@scenario("The end of a process", exercises=("tpt.stdio-lifecycle",), transports=STDIO_ONLY)
async def drive(stage: Stage) -> None:
    patience = min(PROMPT, stage.patience)
    first = await stage.open()
    await first.sentinel()
    if await first.stdio.end_input(patience) is None:
        first.mark(RUNNING, waited=patience)
    await first.close()
    second = await stage.open()
    await second.sentinel()
    if await second.stdio.terminate(patience) is None:
        second.mark(RUNNING, waited=patience)
    await second.close()
