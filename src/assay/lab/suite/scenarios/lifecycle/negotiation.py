"""What a server agrees on: its own version, and something else than a version that nobody has."""

from __future__ import annotations

from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.revisions.revision import Opening


@scenario(
    "Versions that exist and versions that do not",
    exercises=("lifecycle.initialize-result", "lifecycle.version-echoed", "lifecycle.version-offered"),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive(stage: Stage) -> None:
    await stage.open()
    for version in ("1999-12-31", "no version at all"):
        peer = await stage.connect()
        await peer.initialize(protocolVersion=version)
