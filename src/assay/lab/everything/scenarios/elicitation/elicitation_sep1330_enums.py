"""A form with every kind of choice."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.everything.forms import answer_forms
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage

TOOL = "test_elicitation_sep1330_enums"


@official_scenario(
    "elicitation-sep1330-enums", "A form with every kind of choice", needs=(fixture_tool(TOOL),)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    await open_ears(stage, peer)
    answer_forms(peer)
    await peer.call(tool_of(stage.facts, TOOL), {})
