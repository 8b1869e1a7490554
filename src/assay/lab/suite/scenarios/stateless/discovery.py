"""A server asked who it is: properly, in versions that do not exist, and without saying who asks."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Opening

NO_VERSIONS: Final = ("1900-01-01", "no version at all")
NOTHING: Final[dict[str, Any]] = {VERSION_KEY: None, CAPABILITIES_KEY: None, CLIENT_KEY: None}
LACKING: Final[tuple[dict[str, Any], ...]] = ({CAPABILITIES_KEY: None}, {VERSION_KEY: None}, NOTHING)


@scenario(
    "Requests that describe themselves, or do not",
    exercises=(
        "stateless.discovery",
        "stateless.versions",
        "stateless.any-client",
        "stateless.required-meta",
        "stateless.result-type",
        "stateless.result-meta",
        "stateless.only-clients-ask",
    ),
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
    official="server-stateless",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await _without(peer)
    await peer.request("server/discover")
    await peer.request("tools/list")
    for client in (None, {"name": "somebody-else", "version": "9.9"}):
        await peer.request("server/discover", {"_meta": {CLIENT_KEY: client}})
    await _without(peer)
    for version in NO_VERSIONS:
        await peer.request("server/discover", {"_meta": {VERSION_KEY: version}})
        if stage.facts.declares("tools"):
            await peer.request("tools/list", {"_meta": {VERSION_KEY: version}})
    await _greet_as_before(await stage.connect())


async def _without(peer: Peer) -> None:
    """What a request must say of itself, left out; its headers still say which revision it is of."""
    for meta in LACKING:
        headers = {"MCP-Protocol-Version": peer.revision.date}
        await peer.request("server/discover", {"_meta": meta}, headers=headers)


async def _greet_as_before(peer: Peer) -> None:
    """The opening of earlier revisions, from a client that knows no other."""
    version = HANDSHAKE[-1].date
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, "_meta": NOTHING}
    await peer.request("initialize", params, headers={"MCP-Protocol-Version": None, "Mcp-Method": None})
