"""How the client and a server learn of each other: a handshake, or a probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.transport import ONE_CHANNEL
from assay.model.error import HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE, HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Opening

from .failure import Failed, NotServed, Refusal
from .http_sse_transport import HttpSseClientTransport
from .http_transport import HttpClientTransport

if TYPE_CHECKING:
    from .client import ScriptedClient

DISCOVER: Final = "server/discover"
STATELESS: Final = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)
"""Errors that only a server without a handshake gives."""
PROBE: Final = 5.0
"""Seconds that a server has to answer the probe."""


async def open_guest(client: ScriptedClient) -> None:
    """
    Raises:
        Failed: there is no version that both speak.
    """
    if client.revision.opening is Opening.HANDSHAKE:
        await shake_hands(client)
    elif client.behaviour.probes:
        await _probe(client)


async def _probe(client: ScriptedClient) -> None:
    """A server that knows no probe is one with a handshake, whatever words it has for that."""
    try:
        # Over HTTP an old server answers something; elsewhere it may say nothing at all.
        client.server = await client.request(
            DISCOVER, timeout=PROBE if client.transport in ONE_CHANNEL else None
        )
    except (Refusal, NotServed, TimeoutError) as reason:
        stateless = isinstance(reason, Refusal) and reason.code in STATELESS
        if stateless or not client.behaviour.falls_back:
            raise Failed(str(reason)) from None
        client.revision = HANDSHAKE[-1]
        await shake_hands(client)
    else:
        _choose(client, client.server.get("supportedVersions"))


def _choose(client: ScriptedClient, offered: Any) -> None:
    if isinstance(offered, list) and client.revision.date not in offered:
        client.revision = _mutual(offered)


def _mutual(offered: Any) -> Any:
    known = [one for one in PER_REQUEST if isinstance(offered, list) and one.date in offered]
    if not known:
        raise Failed(f"the server serves no version that the client knows: {offered}")
    return known[-1]


def retry_version(client: ScriptedClient, refusal: Refusal) -> bool:
    """Whether the refusal is about the version, and there is another to try, or the same once more."""
    if refusal.code != UNSUPPORTED_VERSION or client.revision.opening is Opening.HANDSHAKE:
        return False
    client.revision = _mutual(refusal.data.get("supported"))
    return True


async def shake_hands(client: ScriptedClient) -> None:
    offered = client.revision.date
    about = {"protocolVersion": offered, "capabilities": client.answers.capabilities, "clientInfo": CLIENT}
    try:
        client.server = await client.request("initialize", about)
    except NotServed:
        if not isinstance(client.carrier, HttpClientTransport):
            raise
        client.carrier = HttpSseClientTransport(client)
        await client.carrier.open()
        client.server = await client.request("initialize", about)
    version = str(client.server.get("protocolVersion"))
    if version in {one.date for one in HANDSHAKE}:
        client.revision = BY_DATE[version]
    elif not client.behaviour.accepts_any_version:
        raise Failed(f"the server answered with a version that the client does not know: {version}")
    client.agreed = version
    if client.behaviour.announces:
        await client.notify("notifications/initialized")
    await client.carrier.opened()
