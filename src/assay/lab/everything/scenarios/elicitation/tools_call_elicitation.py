"""A tool that asks the user, who answers once and declines once."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.everything.forms import answer_forms
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.suite.interview import accept, decline

TOOL = "test_elicitation"
MESSAGE = "Please provide your information, says the lab"


@official_scenario("tools-call-elicitation", "A tool asks the user", needs=(fixture_tool(TOOL),))
async def drive(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    await open_ears(stage, peer)
    for answer in (accept, decline):
        answer_forms(peer, answer)
        await peer.call(tool_of(stage.facts, TOOL), {"message": MESSAGE})
