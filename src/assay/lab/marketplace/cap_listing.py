"""All that a server lists."""

from __future__ import annotations

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.subject.registry_entry import KINDS


async def read_lists(stage: Stage, peer: Peer) -> None:
    """Read the lists of what it declares, each to its end."""
    for kind in KINDS:
        if kind in stage.facts.capabilities:
            await peer.pages(f"{kind}/list", kind)
