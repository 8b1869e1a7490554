"""A tool that can ask in two ways, called by clients that know one each."""

from __future__ import annotations

from assay.lab.everything.answering import call
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import asking_tool
from assay.lab.harness.driver.stage import Stage

TOOL = asking_tool("capabilities")


@official_scenario(
    "input-required-result-capability-check",
    "A client is asked only in ways that it declares",
    needs=(fixture_tool(TOOL),),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open(sampling={})
    for capability in ("sampling", "elicitation"):
        peer.capabilities = {capability: {}}
        await call(peer, TOOL)
