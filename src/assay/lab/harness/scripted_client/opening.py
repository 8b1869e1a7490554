"""How the guest and a server learn of each other: a handshake, or a probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.transport import ONE_CHANNEL
from assay.model.error import HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE, HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Opening

from .failure import Failed, NotServed, Refusal
from .http_sse_transport import HttpSseCarrier
from .http_transport import HttpCarrier

if TYPE_CHECKING:
    from .client import Guest

DISCOVER: Final = "server/discover"
STATELESS: Final = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)
"""Errors that only a server without a handshake gives."""
PROBE: Final = 5.0
"""Seconds that a server has to answer the probe."""


async def open_guest(guest: Guest) -> None:
    """
    Raises:
        Failed: there is no version that both speak.
    """
    if guest.revision.opening is Opening.HANDSHAKE:
        await shake_hands(guest)
    elif guest.manners.probes:
        await _probe(guest)


async def _probe(guest: Guest) -> None:
    """A server that knows no probe is one with a handshake, whatever words it has for that."""
    try:
        # Over HTTP an old server answers something; elsewhere it may say nothing at all.
        guest.server = await guest.request(
            DISCOVER, timeout=PROBE if guest.transport in ONE_CHANNEL else None
        )
    except (Refusal, NotServed, TimeoutError) as reason:
        stateless = isinstance(reason, Refusal) and reason.code in STATELESS
        if stateless or not guest.manners.falls_back:
            raise Failed(str(reason)) from None
        guest.revision = HANDSHAKE[-1]
        await shake_hands(guest)
    else:
        _choose(guest, guest.server.get("supportedVersions"))


def _choose(guest: Guest, offered: Any) -> None:
    if isinstance(offered, list) and guest.revision.date not in offered:
        guest.revision = _mutual(offered)


def _mutual(offered: Any) -> Any:
    known = [one for one in PER_REQUEST if isinstance(offered, list) and one.date in offered]
    if not known:
        raise Failed(f"the server serves no version that the guest knows: {offered}")
    return known[-1]


def retry_version(guest: Guest, refusal: Refusal) -> bool:
    """Whether the refusal is about the version, and there is another to try, or the same once more."""
    if refusal.code != UNSUPPORTED_VERSION or guest.revision.opening is Opening.HANDSHAKE:
        return False
    guest.revision = _mutual(refusal.data.get("supported"))
    return True


async def shake_hands(guest: Guest) -> None:
    offered = guest.revision.date
    about = {"protocolVersion": offered, "capabilities": guest.answers.capabilities, "clientInfo": CLIENT}
    try:
        guest.server = await guest.request("initialize", about)
    except NotServed:
        if not isinstance(guest.carrier, HttpCarrier):
            raise
        guest.carrier = HttpSseCarrier(guest)
        await guest.carrier.open()
        guest.server = await guest.request("initialize", about)
    version = str(guest.server.get("protocolVersion"))
    if version in {one.date for one in HANDSHAKE}:
        guest.revision = BY_DATE[version]
    elif not guest.manners.accepts_any_version:
        raise Failed(f"the server answered with a version that the guest does not know: {version}")
    guest.agreed = version
    if guest.manners.announces:
        await guest.notify("notifications/initialized")
    await guest.carrier.opened()
