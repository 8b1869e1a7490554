"""The environment of a scenario: a subject on one transport and revision, with any number of connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from assay.lab.harness.links.broken_off import ConnectionRejected
from assay.lab.harness.links.identity import CERTIFICATE
from assay.lab.harness.links.link import Link
from assay.lab.harness.subject.bearer import BEARER, NONE, USUAL, TokenSet
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.process_pool import ProcessPool, RecordedOpening, is_unchanged
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.separation import APART, CONTROL
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Opening, Revision

from .peer import Peer, Reply
from .separate_server import SeparateServer

NOTES_CHANNEL: Final = "beside/notes"
SPANS_CHANNEL: Final = "beside/spans"
"""Channels of evidence that does not come from a connection."""
Connect = Callable[[Peer], Link]
Separate = Callable[[], tuple[UrlSubject, Connect] | None]
"""Another process of the subject, and how a peer connects to it; None if the lab cannot start one."""


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
        tokens: TokenSet | None = None,
        out_of_band: OutOfBand | None = None,
        pool: ProcessPool | None = None,
        separate: Separate = lambda: None,
    ) -> None:
        self.revision = revision
        self.transport = transport
        self.facts = facts
        self.patience = patience
        self.tokens = tokens or TokenSet()
        self.out_of_band = out_of_band or OutOfBand()
        self._recorder = recorder
        self._connect = connect
        self._separate = separate
        self._servers: list[SeparateServer] = []
        self._peers: list[Peer] = []
        self._pool = pool
        self._openings: dict[Peer, RecordedOpening] = {}
        """Openings of conversations that another scenario might continue."""

    @property
    def plain(self) -> str:
        """The method of a request that any server answers."""
        return "ping" if "ping" in self.revision.requests else "server/discover"

    def _next_name(self) -> str:
        return str(len(self._peers) + 1)

    async def connect(self, bearer: str = USUAL, certificate: str = USUAL) -> Peer:
        """Open a connection without a handshake, closed after the scenario without a sentinel.

        It uses a token and a client certificate of these kinds; marks record kinds other than the usual.
        """
        peer = self._new_peer(self._connect)
        if bearer != USUAL:
            peer.mark(BEARER, shows=bearer)
            peer.link.use_token(self.tokens.get(bearer))
        if certificate != USUAL:
            peer.mark(CERTIFICATE, shows=certificate)
            peer.http.use_certificate(certificate)
        await peer.link.open()
        return peer

    def _new_peer(self, connect: Connect) -> Peer:
        name = self._next_name()
        peer = Peer(self._recorder, self.revision, name=name, patience=self.patience, connect=connect)
        self._peers.append(peer)
        return peer

    @property
    def can_start(self) -> bool:
        """Whether the lab can start another process of the subject that listens."""
        return self._separate() is not None

    async def start_separate(self) -> SeparateServer:
        """Start another process of the subject, which the scenario may end; the scenario must declare
        `needs=(A_SEPARATE_SERVER,)`."""
        separate = self._separate()
        assert separate is not None, "the scenario must declare `needs=(A_SEPARATE_SERVER,)`"
        subject, connect = separate

        async def begin() -> Peer:
            peer = self._new_peer(connect)
            await peer.link.open()
            await peer.handshake()
            return peer

        server = SeparateServer(subject, self._recorder, begin)
        self._servers.append(server)
        await subject.start()
        return server

    async def open(self, **capabilities: Any) -> Peer:
        """Open a conversation at this revision, with these client capabilities.

        At the end of the scenario the subject must still answer on it: the stage sends a sentinel.
        """
        return await self._continue(capabilities) or await self._begin(capabilities)

    async def _continue(self, capabilities: dict[str, Any]) -> Peer | None:
        if self._pool is None:
            return None
        idle = await self._pool.take(self.revision, capabilities, self._recorder, self._next_name())
        if idle is None:
            return None
        peer, self._openings[peer] = idle
        self._peers.append(peer)
        return peer

    async def _begin(self, capabilities: dict[str, Any]) -> Peer:
        peer = await self.connect()
        peer.capabilities = capabilities
        await peer.handshake()
        peer.is_open = True
        frames = self.so_far.frames
        opening = tuple(frame for frame in frames if frame.connection == peer.name)
        self._openings[peer] = RecordedOpening(opening, self._recorder.begun)
        return peer

    async def open_apart(self) -> Peer:
        """Open a conversation for malformed input, which no other scenario continues and where sentinels are
        not judged: a server may treat the connection differently afterwards."""
        return await self._begin_marked(APART)

    async def open_control(self) -> Peer:
        """Open a conversation for the control of a request: the same request without what is special."""
        return await self._begin_marked(CONTROL)

    async def _begin_marked(self, label: str) -> Peer:
        peer = await self._begin({})
        del self._openings[peer]
        peer.is_open = False
        peer.mark(label)
        return peer

    @property
    def so_far(self) -> Trace:
        """The recording up to now."""
        return self._recorder.trace(closed=False)

    def note(self, label: str, **info: Any) -> None:
        """Record an observation outside the conversations."""
        self._recorder.mark(NOTES_CHANNEL, label, **info)

    def record_span(self, span: bytes) -> None:
        """Record a span that the subject exported."""
        self._recorder.record(Sender.SUBJECT, SPANS_CHANNEL, Kind.SPAN, span)

    async def settle(self) -> None:
        """Wait until the subject has sent all due messages on all open conversations."""
        for peer in self._peers:
            if peer.is_open and not peer.closed:
                await peer.sentinel()

    async def close(self, *, finished: bool = False) -> None:
        """Close all connections. If the scenario finished, unchanged processes are kept for other
        scenarios."""
        reusable = await self._keep() if finished and self._pool is not None else set()
        await asyncio.gather(*(peer.close() for peer in self._peers if peer not in reusable))
        await asyncio.gather(*(server.stop() for server in self._servers))

    async def _keep(self) -> set[Peer]:
        assert self._pool is not None
        trace = self._recorder.trace(closed=True)
        reusable = {peer for peer in self._openings if peer.is_idle and is_unchanged(trace, peer, self.facts)}
        for peer in reusable:
            await self._pool.keep(peer, self._openings[peer], trace)
        return reusable


async def open_server_stream(stage: Stage, peer: Peer) -> bool:
    """Open the stream, and return whether the server may send messages on it.

    Transports with a single channel need no extra stream. A server that neither opens nor refuses the stream
    while it answers other requests is assumed to send the head with its first message; a late refusal ends
    the wait for messages on the stream.
    """
    if stage.transport is not Transport.HTTP or not stage.revision.http.sessions:
        return stage.transport is not Transport.HTTP
    peer.server_stream = await peer.http.listen()
    await peer.wait_accepted(peer.server_stream)
    return peer.server_stream.may_stream


async def try_open(stage: Stage, bearer: str) -> bool:
    """Open a conversation with a token of this kind; returns whether the subject accepted it."""
    try:
        peer = await stage.connect(bearer)
    except ConnectionRejected:
        return False
    return (await send_opening(stage, peer)).is_result


async def send_opening(stage: Stage, peer: Peer) -> Reply:
    """Send a request that can open any conversation."""
    if stage.revision.opening is Opening.HANDSHAKE:
        return await peer.initialize()
    return await peer.request(stage.plain)


async def send_opening_by_query(stage: Stage) -> Reply:
    """Send a request with the usual token in the URL, and none in the header."""
    peer = await stage.connect(NONE)
    address = peer.http.address
    separator = "&" if "?" in address.target else "?"
    target = f"{address.target}{separator}access_token={stage.tokens.get(USUAL)}"
    peer.http.address = msgspec.structs.replace(address, target=target)
    return await send_opening(stage, peer)


async def open_admitted(stage: Stage) -> Peer:
    """The control experiment for refusals: with the usual token, the subject answers."""
    peer = await stage.open()
    await peer.request(stage.plain)
    return peer
