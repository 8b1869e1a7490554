"""The manifest of a skill as a resource: listed, and read."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_SKILLS
from assay.lab.everything.skill_entry import name_in, uri_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "sep-2640-skills-manifest", "The manifest of a skill is a resource like others", needs=(HAS_SKILLS,)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    items = await peer.pages("resources/list", "resources") + await peer.pages("skills/list", "skills")
    uris = [uri_of(item) for item in items if isinstance(item, dict)]
    manifest = next((uri for uri in uris if uri and name_in(uri)), None)
    if manifest is not None:
        await peer.request("resources/read", {"uri": manifest})
