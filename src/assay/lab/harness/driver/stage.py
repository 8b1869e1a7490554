"""Where a scenario plays: one subject, one transport, one revision, and as many connections as it wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.links.identity import CERTIFICATE
from assay.lab.harness.links.link import Link
from assay.lab.harness.subject.bearer import BEARER, USUAL, Wallet
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.process_pool import Opening, ProcessPool, left_as_found
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .peer import Peer

BESIDE: Final = "beside/notes"
SPANS: Final = "beside/spans"
"""Channels of what does not pass on a connection."""
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
        wallet: Wallet | None = None,
        surroundings: OutOfBand | None = None,
        spares: ProcessPool | None = None,
    ) -> None:
        self.revision = revision
        self.transport = transport
        self.facts = facts
        self.patience = patience
        self.wallet = wallet or Wallet()
        self.surroundings = surroundings or OutOfBand()
        self._recorder = recorder
        self._connect = connect
        self._peers: list[Peer] = []
        self._spares = spares
        self._openings: dict[Peer, Opening] = {}
        """Of the conversations that another scenario might go on with."""

    @property
    def plain(self) -> str:
        """The method of a request that any server answers."""
        return "ping" if "ping" in self.revision.requests else "server/discover"

    def _next_name(self) -> str:
        return str(len(self._peers) + 1)

    async def connect(self, bearer: str = USUAL, certificate: str = USUAL) -> Peer:
        """A connection on which nothing was said yet. It is closed for you, without a sentinel.

        It shows a token and a certificate of these kinds; marks tell of any but the usual ones.
        """
        name = self._next_name()
        peer = Peer(self._recorder, self.revision, name=name, patience=self.patience, connect=self._connect)
        self._peers.append(peer)
        if bearer != USUAL:
            peer.mark(BEARER, shows=bearer)
            peer.link.bear(self.wallet.get(bearer))
        if certificate != USUAL:
            peer.mark(CERTIFICATE, shows=certificate)
            peer.http.show(certificate)
        await peer.link.open()
        return peer

    async def open(self, **capabilities: Any) -> Peer:
        """A connection whose conversation is open at this revision, with these capabilities of the client.

        At the end of the scenario it must still answer: a sentinel is sent on it for you.
        """
        return await self._go_on(capabilities) or await self._begin(capabilities)

    async def _go_on(self, capabilities: dict[str, Any]) -> Peer | None:
        if self._spares is None:
            return None
        spare = await self._spares.take(self.revision, capabilities, self._recorder, self._next_name())
        if spare is None:
            return None
        peer, self._openings[peer] = spare
        self._peers.append(peer)
        return peer

    async def open_as(self, bearer: str, **capabilities: Any) -> Peer:
        """The same, with a token of that kind."""
        return await self._begin(capabilities, bearer)

    async def _begin(self, capabilities: dict[str, Any], bearer: str = USUAL) -> Peer:
        peer = await self.connect(bearer)
        peer.capabilities = capabilities
        await peer.greet()
        peer.greeted = True
        said = self._recorder.trace(closed=False).frames
        frames = tuple(one for one in said if one.connection == peer.name)
        self._openings[peer] = Opening(frames, self._recorder.begun)
        return peer

    def note(self, label: str, **info: Any) -> None:
        """Keep what the driver sees beside the conversation."""
        self._recorder.mark(BESIDE, label, **info)

    def hear_span(self, span: bytes) -> None:
        """Keep a span that the subject exported."""
        self._recorder.record(Sender.SUBJECT, SPANS, Kind.SPAN, span)

    async def settle(self) -> None:
        """See that all open conversations have sent what they had to send."""
        for peer in self._peers:
            if peer.greeted and not peer.closed:
                await peer.sentinel()

    async def close(self, *, finished: bool = False) -> None:
        """Hang up; where the scenario reached its end, what is as it was found waits for another."""
        kept = await self._keep() if finished and self._spares is not None else set()
        await asyncio.gather(*(peer.close() for peer in self._peers if peer not in kept))

    async def _keep(self) -> set[Peer]:
        assert self._spares is not None
        trace = self._recorder.trace(closed=True)
        kept = {peer for peer in self._openings if peer.is_idle and left_as_found(trace, peer, self.facts)}
        for peer in kept:
            await self._spares.keep(peer, self._openings[peer], trace)
        return kept
