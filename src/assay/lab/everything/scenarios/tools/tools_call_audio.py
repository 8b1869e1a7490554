"""A tool that answers with a sound."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tools-call-audio", "A tool answers with a sound", needs=(fixture_tool("test_audio_content"),)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_audio_content"), {})
