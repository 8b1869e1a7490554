"""Opening a session with a server: a handshake, or a probe in revisions without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.transport import ONE_CHANNEL
from assay.model.error import HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE, HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Opening

from .failure import EndpointMissing, ErrorAnswer, StepFailed
from .http_sse_transport import HttpSseClientTransport
from .http_transport import HttpClientTransport

if TYPE_CHECKING:
    from .client import ScriptedClient

DISCOVER: Final = "server/discover"
STATELESS: Final = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)
"""Errors that only servers without a handshake send."""
PROBE: Final = 5.0
"""Seconds to wait for an answer to the probe."""


async def negotiate(client: ScriptedClient) -> None:
    """
    Raises:
        StepFailed: client and server have no version in common.
    """
    if client.revision.opening is Opening.HANDSHAKE:
        await shake_hands(client)
    elif client.behaviour.probes:
        await _probe(client)


async def _probe(client: ScriptedClient) -> None:
    """A server that answers the probe with any other error is taken for one with a handshake."""
    try:
        # Over HTTP an old server sends some answer; on stdio and WebSocket it may send none at all.
        client.server = await client.request(
            DISCOVER, timeout=PROBE if client.transport in ONE_CHANNEL else None
        )
    except (ErrorAnswer, EndpointMissing, TimeoutError) as reason:
        stateless = isinstance(reason, ErrorAnswer) and reason.code in STATELESS
        if stateless or not client.behaviour.falls_back:
            raise StepFailed(str(reason)) from None
        client.revision = HANDSHAKE[-1]
        await shake_hands(client)
    else:
        offered = client.server.get("supportedVersions")
        if isinstance(offered, list) and client.revision.date not in offered:
            client.revision = _mutual(offered)


def _mutual(offered: Any) -> Any:
    known = [revision for revision in PER_REQUEST if isinstance(offered, list) and revision.date in offered]
    if not known:
        raise StepFailed(f"the server supports no version that the client knows: {offered}")
    return known[-1]


def retry_version(client: ScriptedClient, error: ErrorAnswer) -> bool:
    """Whether to retry after an error about the version; selects the version to retry with."""
    if error.code != UNSUPPORTED_VERSION or client.revision.opening is Opening.HANDSHAKE:
        return False
    client.revision = _mutual(error.data.get("supported"))
    return True


async def shake_hands(client: ScriptedClient) -> None:
    params = {
        "protocolVersion": client.revision.date,
        "capabilities": client.answers.capabilities,
        "clientInfo": CLIENT,
    }
    try:
        client.server = await client.request("initialize", params)
    except EndpointMissing:
        if not isinstance(client.connection, HttpClientTransport):
            raise
        client.connection = HttpSseClientTransport(client)
        await client.connection.open()
        client.server = await client.request("initialize", params)
    version = str(client.server.get("protocolVersion"))
    if version in {revision.date for revision in HANDSHAKE}:
        client.revision = BY_DATE[version]
    elif not client.behaviour.accepts_any_version:
        raise StepFailed(f"the server answered with a version that the client does not know: {version}")
    client.agreed = version
    if client.behaviour.sends_initialized:
        await client.notify("notifications/initialized")
    await client.connection.opened()
