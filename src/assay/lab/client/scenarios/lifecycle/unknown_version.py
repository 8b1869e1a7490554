"""The host answers with a version that nobody speaks."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import FIRST
from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn

NOBODYS = "1900-01-01"


@client_scenario(
    "A client leaves a server whose version it cannot speak",
    brief=Brief(steps=(LIST_TOOLS, call("work")), may_fail=True),
    exercises=("lifecycle.unknown-version",),
)
async def drive(stage: Hosting) -> None:
    usual = stage.host.handlers[FIRST]

    @stage.host.on(FIRST)
    async def initialize(turn: Turn) -> Answer:
        answer = await usual(turn)
        assert isinstance(answer, dict)
        return {**answer, "protocolVersion": NOBODYS}

    stage.host.add_tool({"name": "work"})
