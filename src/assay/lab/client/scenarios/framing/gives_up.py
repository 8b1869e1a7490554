"""A call that is never answered, and that the client gives up."""

from __future__ import annotations

from assay.lab.client.checks.framing.cancelled import ROWS, SLOW
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.hosting.answer import SILENCE, Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn

LIMIT = 0.4


@client_scenario(
    "A call that is given up is cancelled",
    brief=Brief(steps=(LIST_TOOLS, tried({**call(SLOW), "timeout": LIMIT}), call(AFTER))),
    exercises=("framing.cancelled",),
    transports=frozenset(ROWS),
)
async def drive(stage: Hosting) -> None:
    async def never(turn: Turn) -> Answer:
        return SILENCE

    stage.host.add_tool({"name": SLOW}, never)
    stage.host.add_tool({"name": AFTER})
