"""The host gives the client whichever version it offers."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import FIRST
from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn


@client_scenario(
    "A client speaks the version that it offers",
    brief=Brief(steps=(LIST_TOOLS, call("work"))),
    exercises=("lifecycle.own-version",),
)
async def drive(stage: Hosting) -> None:
    usual = stage.host.handlers[FIRST]

    @stage.host.on(FIRST)
    async def initialize(turn: Turn) -> Answer:
        answer = await usual(turn)
        assert isinstance(answer, dict)
        offered = turn.params.get("protocolVersion")
        return {**answer, "protocolVersion": offered} if isinstance(offered, str) else answer

    stage.host.add_tool({"name": "work"})
