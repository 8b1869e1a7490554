"""Messages that a server must refuse or survive, and how a driver offers them one after another."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import Gone, NoAnswer

NEGATIVE: Final = "negative"
"""The name of the probes around them."""
BROKE: Final = "broke off"
"""The mark of one after which the server did not go on."""


class BadMessage(Struct, frozen=True):
    case: str
    """The last part of the row's name."""
    what: str
    message: Any
    """A value, or bytes that are sent as they are."""
    ids: tuple[str, ...] = ()
    """By which an answer may name it."""
    headers: dict[str, str] = {}
    answered: bool = False
    """It is in good form: its answer is waited for, and may take its time."""


def plain_request(stage: Stage, request_id: str, **params: Any) -> dict[str, Any]:
    """A request that any server serves, to be spoiled."""
    full = declared(stage.revision, params, {})
    given = {"params": full} if full else {}
    return {"jsonrpc": "2.0", "id": request_id, "method": stage.plain, **given}


async def offer_each(stage: Stage, messages: Iterable[BadMessage], peer: Peer | None = None) -> None:
    """Offer them on one connection, each followed by a good request; on a new one after each that ends it."""
    peer = peer or await stage.open()
    for bad in messages:
        try:
            await _offer(peer, bad)
        except (Gone, NoAnswer) as reason:
            peer.mark(BROKE, reason=str(reason))
            await peer.close()
            peer = await stage.open()


async def _offer(peer: Peer, bad: BadMessage) -> None:
    async with peer.probe(NEGATIVE, case=bad.case, what=bad.what, ids=bad.ids):
        # Who is served after all must not be taken for the good request that follows.
        expected = [peer.expect(bad.what, name) for name in bad.ids]
        sent = await peer.send(bad.message, headers=bad.headers)
        for pending in expected:
            pending.sent = sent
        await sent.settled(peer.patience)
        if bad.answered:
            await _wait_for(peer, expected)
            peer.forget(expected)


async def _wait_for(peer: Peer, expected: list[Pending]) -> None:
    """Until all are answered, or refused as one. Silence is for the check to judge."""
    with suppress(NoAnswer):
        for pending in expected:
            reply = await peer.answer(pending)
            if reply.message is None or reply.message.id != pending.id:
                return
