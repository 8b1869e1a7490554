"""A poor network in user space: a relay that delays bytes, more so for a lost packet, and resets connections.

It replaces the loss of packets, which only the kernel can cause: TCP sends a lost packet again, and what an
application sees of that is a delay.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final, cast

from msgspec import Struct

RETRANSMISSION: Final = 0.2
"""Seconds until TCP sends a lost packet again, at the least (RFC 6298 allows more)."""
MOST_HELD: Final = 1024 * 1024
"""Bytes of one direction of a connection that are on their way; more are not read."""
METHOD: Final = "relay in user space: delays and resets replace packet loss"


class Impairment(Struct, frozen=True):
    jitter: float = 0.05
    """Each piece is delayed by up to so many seconds."""
    loss: float = 0.01
    """The share of pieces that are delayed by a retransmission."""
    resets: float = 0.001
    """The share of pieces with which the connection is reset."""
    seed: int = 1

    def as_facts(self) -> dict[str, Any]:
        return {
            "method": METHOD,
            "jitter": f"0 to {self.jitter * 1000:g} ms",
            "loss": f"{self.loss:.1%} of the pieces are {RETRANSMISSION * 1000:g} ms later",
            "resets": f"{self.resets:.1%} of the pieces reset their connection",
        }


class Relay:
    def __init__(self, impairment: Impairment, host: str, port: int) -> None:
        self._impairment = impairment
        self._random = Random(impairment.seed)
        self._upstream = (host, port)
        self.resets = 0
        self.pieces = 0
        self._pairs: set[Pair] = set()
        self._opening: set[asyncio.Task[None]] = set()

    def delay(self) -> float | None:
        """Seconds for the next piece; None if it resets the connection."""
        self.pieces += 1
        if self._random.random() < self._impairment.resets:
            return None
        lost = self._random.random() < self._impairment.loss
        return self._random.uniform(0, self._impairment.jitter) + (RETRANSMISSION if lost else 0.0)

    def accept(self) -> asyncio.Protocol:
        pair = Pair(self)
        self._pairs.add(pair)
        return pair.near

    def open_upstream(self, pair: Pair) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(pair))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _connect(self, pair: Pair) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: pair.far, *self._upstream)
        except OSError:
            pair.end()

    def ended(self, pair: Pair) -> None:
        self._pairs.discard(pair)

    async def close(self) -> None:
        for task in list(self._opening):
            task.cancel()
        for pair in list(self._pairs):
            pair.end()


class Pair:
    """A connection of a client, and the one to the server."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.near = End(self)
        self.far = End(self)
        self.near.other, self.far.other = self.far, self.near
        self._ended = False

    def connected(self, end: End) -> None:
        if end is self.near:
            self.relay.open_upstream(self)
        else:
            self.near.resume()

    def end(self) -> None:
        if self._ended:
            return
        self._ended = True
        for end in (self.near, self.far):
            end.abort()
        self.relay.ended(self)


class End(asyncio.Protocol):
    """One side of a pair. What it receives is written to the other side later, in order."""

    other: End

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._transport: asyncio.Transport | None = None
        self._last = 0.0
        self._held = 0
        self._pieces: deque[bytes] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self is self._pair.near:
            self._transport.pause_reading()  # until there is somewhere to write to
        self._pair.connected(self)

    def resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        delay = self._pair.relay.delay()
        if delay is None:
            self._pair.relay.resets += 1
            return self._pair.end()
        loop = asyncio.get_running_loop()
        self._last = max(self._last, loop.time() + delay)
        self._held += len(data)
        if self._held > MOST_HELD and self._transport is not None:
            self._transport.pause_reading()
        # Timers for the same time may fire in any order, so that they only say when, not what.
        self._pieces.append(data)
        loop.call_at(self._last, self._pass_on)

    def _pass_on(self) -> None:
        data = self._pieces.popleft()
        before, self._held = self._held, self._held - len(data)
        self.other.write(data)
        if before > MOST_HELD >= self._held:
            self.resume()

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        loop = asyncio.get_running_loop()
        # What is on its way arrives first.
        loop.call_at(max(self._last, loop.time()), self._pair.end)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


@asynccontextmanager
async def impaired(host: str, port: int, impairment: Impairment) -> AsyncIterator[tuple[Relay, int]]:
    """A relay to this address, and its local port."""
    relay = Relay(impairment, host, port)
    server = await asyncio.get_running_loop().create_server(relay.accept, "127.0.0.1", 0)
    try:
        yield relay, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await relay.close()
