"""The host asks a model, and wants to hear of progress."""

from __future__ import annotations

from typing import Final

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking

TOKEN: Final = "model-1"
QUESTION: Final = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}],
    "maxTokens": 100,
    "_meta": {"progressToken": TOKEN},
}


@client_scenario(
    "A client that is asked for progress may tell it, and answers",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking"), call(AFTER)),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("utilities.own-progress", "asking.declared"),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive(stage: ClientStage) -> None:
    async def asking(cycle: RequestCycle) -> Answer:
        await cycle.ask("sampling/createMessage", QUESTION)
        return {"content": []}

    stage.host.add_tool({"name": "asking"}, asking)
    stage.host.add_tool({"name": AFTER})
