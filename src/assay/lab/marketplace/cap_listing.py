"""All that a server lists."""

from __future__ import annotations

from assay.lab.harness.peer import Peer
from assay.lab.harness.registry_entry import KINDS
from assay.lab.harness.stage import Stage


async def read_lists(stage: Stage, peer: Peer) -> None:
    """Read the lists of what it declares, each to its end."""
    for kind in KINDS:
        if kind in stage.facts.capabilities:
            await peer.pages(f"{kind}/list", kind)
