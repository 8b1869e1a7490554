"""What a server publishes and asks by itself: its schemas, its `_meta`, its requests and notifications."""

from __future__ import annotations

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOOL
from assay.lab.harness.scenario import scenario

MOST = 12
"""Tools that are called: those that ask are among the first, or the server is not of that kind."""


@scenario(
    "What a server says of its own accord",
    exercises=(
        "jsonrpc.published-schemas",
        "jsonrpc.meta-keys",
        "jsonrpc.request-ids",
        "jsonrpc.notification-ids",
        "jsonrpc.wire-shape",
    ),
    needs=(A_TOOL,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open(sampling={}, elicitation={}, roots={})
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools[:MOST]:
        await peer.call(tool, arguments_for(tool))
