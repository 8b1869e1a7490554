"""Requests whose version header is right, missing, or nonsense."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "A version header that names no version, or none",
    exercises=("http.bad-version-header",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.version_header,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", headers={"MCP-Protocol-Version": None})
    for nonsense in ("no-version", "1999-12-31"):
        await peer.request("ping", headers={"MCP-Protocol-Version": nonsense})
    await peer.taken(await peer.http.listen(**{"MCP-Protocol-Version": "no-version"}))
