"""All skills of a server; one of them in full, with its files."""

from __future__ import annotations

from typing import Any

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_SKILLS
from assay.lab.everything.skill_entry import MANIFEST, files_of, uri_of
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage

NO_SKILL = "skill://assay-lab-knows-of-no-such-skill/SKILL.md"
MOST = 16
"""Files of a skill that are read: enough to see whether its digests are those of its files."""


@official_scenario(
    "sep-2640-skills-enumeration", "Skills are listed, described and can be read", needs=(HAS_SKILLS,)
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    entries = [one for one in await peer.pages("skills/list", "skills") if isinstance(one, dict)]
    known = [uri for uri in map(uri_of, entries) if uri]
    if known:
        await peer.request("skills/get", {"uri": known[0]})
        await peer.request("skills/get", {"uri": NO_SKILL})
    await _read_files(peer, entries)


async def _read_files(peer: Peer, entries: list[dict[str, Any]]) -> None:
    """The manifest of every kind of skill, and the files of the first one that lists them."""
    manifests = [uri for uri in map(uri_of, entries) if uri and uri.endswith(f"/{MANIFEST}")]
    listing = next((files for files in map(files_of, entries) if files), [])
    for uri in dict.fromkeys([*manifests[:MOST], *filter(None, map(uri_of, listing[:MOST]))]):
        await peer.request("resources/read", {"uri": uri})
