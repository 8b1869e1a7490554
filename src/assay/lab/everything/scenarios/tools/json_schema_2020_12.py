"""The list of tools, one of which has a schema with everything in it."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "json-schema-2020-12",
    "The keywords of JSON Schema 2020-12 reach the client",
    needs=(fixture_tool("json_schema_2020_12_tool"),),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
