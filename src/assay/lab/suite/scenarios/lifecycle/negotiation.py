"""What a server agrees on: its own version, and something else than a version that nobody has."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Opening

UNHEARD_OF = ("1999-12-31", "no version at all")


@scenario(
    "Versions that exist and versions that do not",
    exercises=("lifecycle.initialize-result", "lifecycle.version-echoed", "lifecycle.version-offered"),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive(stage: Stage) -> None:
    await stage.open()
    offers = [await _ask_for(stage, version) for version in UNHEARD_OF]
    # Is the offer meant, and is there anything newer that it agrees on?
    dates = [revision.date for revision in HANDSHAKE]
    for offer in dict.fromkeys(offers):
        newer = dates[dates.index(offer) + 1 :] if offer in dates else []
        for version in (offer, *newer) if offer else ():
            await _ask_for(stage, version)


async def _ask_for(stage: Stage, version: str) -> str | None:
    peer = await stage.connect()
    offer = (await peer.initialize(protocolVersion=version)).result.get("protocolVersion")
    await peer.close()
    return offer if isinstance(offer, str) else None
