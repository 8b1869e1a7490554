"""Where a scenario plays: one subject, one transport, one revision, and as many connections as it wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from assay.revisions.revision import Revision

from .facts import Facts
from .link import Link
from .peer import Peer
from .recorder import Recorder
from .transport import Transport

Connect = Callable[[Peer], Link]


class Stage:
    def __init__(
        self,
        recorder: Recorder,
        connect: Connect,
        *,
        revision: Revision,
        transport: Transport,
        facts: Facts,
        patience: float,
    ) -> None:
        self.revision = revision
        self.transport = transport
        self.facts = facts
        self.patience = patience
        self._recorder = recorder
        self._connect = connect
        self._peers: list[Peer] = []

    @property
    def plain(self) -> str:
        """The method of a request that any server answers."""
        return "ping" if "ping" in self.revision.requests else "server/discover"

    async def connect(self) -> Peer:
        """A connection on which nothing was said yet. It is closed for you, without a sentinel."""
        name = str(len(self._peers) + 1)
        peer = Peer(self._recorder, self.revision, name=name, patience=self.patience, connect=self._connect)
        self._peers.append(peer)
        await peer.link.open()
        return peer

    async def open(self, **capabilities: Any) -> Peer:
        """A connection whose conversation is open at this revision, with these capabilities of the client.

        At the end of the scenario it must still answer: a sentinel is sent on it for you.
        """
        peer = await self.connect()
        peer.capabilities = capabilities
        await peer.greet()
        peer.greeted = True
        return peer

    async def settle(self) -> None:
        """See that all open conversations have sent what they had to send."""
        for peer in self._peers:
            if peer.greeted and not peer.closed:
                await peer.sentinel()

    async def close(self) -> None:
        await asyncio.gather(*(peer.close() for peer in self._peers))
