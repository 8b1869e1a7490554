"""What a subject is: which revisions it really speaks, what it declares, what it lists.

Every revision is tried, not asked about: a server speaks a handshake revision if it agrees on it, and the
others if it answers a request of theirs.
"""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import try_open
from assay.lab.harness.transport import GUARDED, Transport
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

from .bearer import NONE, USUAL
from .facts import Facts, Refusal

DISCOVERY: Final = "discovery"
"""The name of the conversation in which a subject is got to know."""
LET_IN_HINTS: Final = {
    401: " (it wants credentials: --bearer, --authority or --header)",
    403: " (it does not let us in: --bearer, --authority or --header)",
}
# Capability → where its lists are, and under which key they and the facts hold them.
LISTS: Final = (
    ("tools", "tools/list", "tools", "tools"),
    ("resources", "resources/list", "resources", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates", "templates"),
    ("prompts", "prompts/list", "prompts", "prompts"),
)


async def discover(stage: Stage) -> Facts | Refusal:
    """Get to know the subject at the stage's revision.

    Raises:
        BrokenOff: it did not answer, or is not there.
    """
    peer = await stage.connect()
    refusal_or_facts = await _OPENINGS[stage.revision.opening](peer)
    if isinstance(refusal_or_facts, Facts):
        peer.greeted = True
        refusal_or_facts.local = peer.link.is_local
        if stage.transport is Transport.HTTP:
            refusal_or_facts.certificates = peer.http.certificates
        refusal_or_facts.beside = stage.surroundings.kinds
        await _list(peer, refusal_or_facts)
        await _show_nothing(stage, refusal_or_facts)
    return refusal_or_facts


async def _show_nothing(stage: Stage, facts: Facts) -> None:
    """See whether it takes a token to be let in; without one of ours, we were let in without."""
    facts.bearers = stage.wallet.kinds
    if USUAL in facts.bearers and stage.transport in GUARDED:
        facts.protected = not await try_open(stage, NONE)


async def _by_handshake(peer: Peer) -> Facts | Refusal:
    reply = await peer.initialize()
    agreed = reply.result.get("protocolVersion")
    if agreed != peer.revision.date:
        return Refusal(peer.revision.date, _refused("initialize", reply, agreed))
    await peer.notify("notifications/initialized")
    session = reply.head is not None and reply.head.get("mcp-session-id") is not None
    server = _object(reply.result.get("serverInfo"))
    return Facts(agreed, _object(reply.result.get("capabilities")), server, session=session)


async def _by_request(peer: Peer) -> Facts | Refusal:
    reply = await peer.request("server/discover")
    if not reply.is_result:
        return Refusal(peer.revision.date, _refused("server/discover", reply, None))
    versions = reply.result.get("supportedVersions")
    # A server may tell whoever asks which versions it has, in the words of one that it does not have.
    if isinstance(versions, list) and peer.revision.date not in versions:
        listed = ", ".join(map(str, versions)) or "no version"
        return Refusal(peer.revision.date, f"server/discover was answered with support for {listed}")
    meta = _object(reply.result.get("_meta"))
    capabilities = _object(reply.result.get("capabilities"))
    return Facts(peer.revision.date, capabilities, _object(meta.get(SERVER_KEY)))


_OPENINGS: Final = {Opening.HANDSHAKE: _by_handshake, Opening.PER_REQUEST: _by_request}


def _refused(method: str, reply: Reply, agreed: Any) -> str:
    if isinstance(agreed, str):
        known = "" if agreed in BY_DATE else ", which is no revision"
        return f"{method} was answered with version {agreed}{known}"
    hint = LET_IN_HINTS.get(reply.status or 0, "")
    if reply.message is not None:
        return f"{method} was answered with {reply.message}{hint}"
    lost = " (is the path right?)" if reply.status == 404 else hint
    return f"{method} was answered with HTTP status {reply.status}{lost}"


async def _list(peer: Peer, facts: Facts) -> None:
    for capability, method, key, name in LISTS:
        if facts.declares(capability) or capability in facts.capabilities:
            items = await peer.pages(method, key)
            setattr(facts, name, [item for item in items if isinstance(item, dict)])


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
