"""Resources that may be kept for long: two different ones, and one that is only given after a question."""

from __future__ import annotations

from assay.lab.client.checks.caching.reuse import ASKED, ONE, OTHER, READ
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

QUESTION = {
    "mode": "form",
    "message": "Which part of it?",
    "requestedSchema": {"type": "object", "properties": {"part": {"type": "string", "default": "all"}}},
}
READS = (ONE, OTHER, ASKED, ASKED)


@client_scenario(
    "What is kept is not used for another request",
    brief=Brief(
        steps=(LIST_TOOLS, *(step("read_resource", uri=uri) for uri in READS), call(AFTER)),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("caching.reuse",),
)
async def drive(stage: ClientStage) -> None:
    usual = stage.host.handlers[READ]

    @stage.host.on(READ)
    async def read(cycle: RequestCycle) -> Answer:
        if cycle.params.get("uri") == ASKED:
            await cycle.inquire({"part": ("elicitation/create", QUESTION)}, state="asked")
        return await usual(cycle)

    stage.host.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    for uri in (ONE, OTHER, ASKED):
        stage.host.add_resource(uri)
    stage.host.add_tool({"name": AFTER})
