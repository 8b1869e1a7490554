"""The directory of a skill, and what is none."""

from __future__ import annotations

from typing import Any

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_SKILLS, SKILLS
from assay.lab.everything.skill_entry import Entry, directory_of, name_in, subdirectories, uri_of
from assay.lab.harness.driver.peer import PAGES, Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares

METHOD = "resources/directory/read"


@official_scenario(
    "sep-2640-skills-directory",
    "The directories of skills can be read",
    needs=(HAS_SKILLS, declares("extensions", SKILLS, "directoryRead")),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    entries = [one for one in await peer.pages("skills/list", "skills") if isinstance(one, dict)]
    skills = [one for one in entries if name_in(uri_of(one) or "")]
    chosen = max(skills, key=lambda one: len(subdirectories(one)), default=None)
    if chosen is not None:
        await _read(peer, chosen)


async def _read(peer: Peer, entry: Entry) -> None:
    uri = str(uri_of(entry))
    await _pages(peer, str(directory_of(uri)))
    for below in subdirectories(entry)[:1]:
        await _pages(peer, below)
    await peer.request(METHOD, {"uri": uri})
    await peer.request(METHOD, {"uri": f"{directory_of(uri)}/assay-lab-knows-of-no-such-directory"})


async def _pages(peer: Peer, uri: str) -> None:
    params: dict[str, Any] = {"uri": uri}
    for _ in range(PAGES):
        cursor = (await peer.request(METHOD, params)).result.get("nextCursor")
        if not isinstance(cursor, str):
            break
        params = {"uri": uri, "cursor": cursor}
