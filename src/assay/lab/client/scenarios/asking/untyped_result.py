"""A result that does not say what it is."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.hosting.answer import Answer, Raw
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn, encode
from assay.revisions.revision import Asking


@client_scenario(
    "A result without a type is complete",
    brief=Brief(steps=(LIST_TOOLS, call("untyped"), call(AFTER)), capabilities=("elicitation",)),
    exercises=("asking.result-types",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive(stage: Hosting) -> None:
    async def untyped(turn: Turn) -> Answer:
        result = {"content": [{"type": "text", "text": "done"}]}
        return Raw(encode({"jsonrpc": "2.0", "id": turn.id, "result": result}))

    stage.host.add_tool({"name": "untyped"}, untyped)
    stage.host.add_tool({"name": AFTER})
