"""Discovery: the revisions a subject supports, the capabilities it declares and the items it lists.

Support is tried, not asked for: a server supports a handshake revision if it agrees on it, and a revision
without handshake if it serves a request of that revision, be it `server/discover` or a list.
"""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage, try_open
from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.transport import GUARDED, Transport
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

from .bearer import NONE, USUAL
from .facts import Facts, UnsupportedRevision

DISCOVERY: Final = "discovery"
"""Scenario name in the traces of discovery."""
CREDENTIAL_HINTS: Final = {
    401: " (credentials required: use --bearer, --authority or --header)",
    403: " (access denied: use --bearer, --authority or --header)",
}
# Capability, method, key of the list in the result, attribute of the facts.
LISTS: Final = (
    ("tools", "tools/list", "tools", "tools"),
    ("resources", "resources/list", "resources", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates", "templates"),
    ("prompts", "prompts/list", "prompts", "prompts"),
)


async def discover(stage: Stage) -> Facts | UnsupportedRevision:
    """Collect the facts about the subject at the stage's revision.

    Raises:
        BrokenOff: the subject did not answer, or cannot be reached.
    """
    peer = await stage.connect()
    facts = await _OPENINGS[stage.revision.opening](peer)
    if isinstance(facts, UnsupportedRevision):
        return facts
    peer.is_open = True
    facts.local = peer.link.is_local
    facts.startable = stage.can_start
    if stage.transport is Transport.HTTP:
        facts.certificates = peer.http.certificates
    facts.out_of_band = stage.out_of_band.kinds
    await _list(peer, facts)
    lists = stage.so_far.exchanges(*(method for _, method, *_ in LISTS))
    facts.cursors = any(isinstance((each.result or {}).get("nextCursor"), str) for each in lists)
    await _try_without_token(stage, facts)
    return facts


async def _try_without_token(stage: Stage, facts: Facts) -> None:
    """Find out whether the subject requires a token. If the driver has none, discovery worked without."""
    facts.bearers = stage.tokens.kinds
    if USUAL in facts.bearers and stage.transport in GUARDED:
        facts.protected = not await try_open(stage, NONE)


async def _by_handshake(peer: Peer) -> Facts | UnsupportedRevision:
    reply = await peer.initialize()
    agreed = reply.result.get("protocolVersion")
    if agreed != peer.revision.date:
        return UnsupportedRevision(peer.revision.date, _reason("initialize", reply, agreed))
    await peer.notify("notifications/initialized")
    session = reply.head is not None and reply.head.get("mcp-session-id") is not None
    server = _object(reply.result.get("serverInfo"))
    return Facts(agreed, _object(reply.result.get("capabilities")), server, session=session)


async def _by_request(peer: Peer) -> Facts | UnsupportedRevision:
    reply = await peer.request("server/discover")
    if not reply.is_result:
        reason = _reason("server/discover", reply, None)
        return await _by_service(peer) or UnsupportedRevision(peer.revision.date, reason)
    versions = reply.result.get("supportedVersions")
    # A server may list its versions in reply to a request of a revision that it does not support.
    if isinstance(versions, list) and peer.revision.date not in versions:
        listed = ", ".join(map(str, versions)) or "no version"
        reason = f"server/discover was answered with support for {listed}"
        return await _by_service(peer) or UnsupportedRevision(peer.revision.date, reason)
    meta = _object(reply.result.get("_meta"))
    capabilities = _object(reply.result.get("capabilities"))
    return Facts(peer.revision.date, capabilities, _object(meta.get(SERVER_KEY)))


async def _by_service(peer: Peer) -> Facts | None:
    """The facts about a server that serves lists of this revision, whatever `server/discover` says; None if
    it serves none. What it lists counts as declared.

    Only results of these revisions have `resultType`: a server may answer the methods of others without any
    handshake.
    """
    capabilities: dict[str, Any] = {}
    server: dict[str, Any] = {}
    for capability, method, key, _ in LISTS:
        if capability not in capabilities:
            try:
                result = (await peer.request(method)).result
            except BrokenOff:
                # The answer to `server/discover` has shown that the server is there.
                return None
            if isinstance(result.get("resultType"), str) and isinstance(result.get(key), list):
                capabilities[capability] = {}
                server = server or _object(_object(result.get("_meta")).get(SERVER_KEY))
    return Facts(peer.revision.date, capabilities, server) if capabilities else None


_OPENINGS: Final = {Opening.HANDSHAKE: _by_handshake, Opening.PER_REQUEST: _by_request}


def _reason(method: str, reply: Reply, agreed: Any) -> str:
    if isinstance(agreed, str):
        unknown = "" if agreed in BY_DATE else ", which is not a known revision"
        return f"{method} was answered with version {agreed}{unknown}"
    hint = CREDENTIAL_HINTS.get(reply.status or 0, "")
    if reply.message is not None:
        return f"{method} was answered with {reply.message}{hint}"
    hint = " (check the path of the URL)" if reply.status == 404 else hint
    return f"{method} was answered with HTTP status {reply.status}{hint}"


async def _list(peer: Peer, facts: Facts) -> None:
    for capability, method, key, name in LISTS:
        if facts.declares(capability) or capability in facts.capabilities:
            items = await peer.pages(method, key)
            setattr(facts, name, [item for item in items if isinstance(item, dict)])


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
