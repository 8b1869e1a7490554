"""The end of standard input: what a server still says then, and whether it ends."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import STDIO_ONLY

PROMPT = 5.0
"""Seconds that a server has to end: the rule says "promptly", and clients seldom wait longer."""


@scenario(
    "The end of standard input",
    exercises=("framing.pure-stdout", "framing.ends-with-input"),
    transports=STDIO_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    patience = min(PROMPT, stage.patience)
    if await peer.stdio.end_input(patience) is None:
        peer.mark("still running", waited=patience)
    await peer.close()
