"""GET: a connection that follows a stream of its session, from now or from where the last one ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from assay.model.error import INVALID_REQUEST, StoreAway
from assay.protocol.framing import sse
from assay.protocol.http.asgi import Transmit
from assay.protocol.http.head_policy import Headers, Refusal
from assay.store.port import Event

from .exchange import EVENT_STREAM
from .sessions import HttpSession
from .stream import Stream, parse_event_id

Touch = Callable[[str], Awaitable[object]]


class Position:
    """A position in a stream: everything after it is still to be sent."""

    __slots__ = ("number", "stream")

    def __init__(self, stream: Stream, number: int) -> None:
        self.stream = stream
        self.number = number


async def find_position(live: HttpSession, last_event_id: bytes | None) -> Position | Refusal:
    """The position at which a GET begins."""
    if last_event_id is None:
        return Position(live.standalone, await live.start_position())
    parsed = parse_event_id(last_event_id.decode("latin-1"))
    stream = None if parsed is None else await live.find_stream(parsed[0])
    if parsed is None or stream is None or await stream.after(parsed[1]) is None:
        return Refusal(
            400, "unknown Last-Event-ID: the stream cannot be resumed from there", code=INVALID_REQUEST
        )
    return Position(stream, parsed[1])


class Follower:
    """Sends a stream to one connection, until it ends, a newer reader takes over, or the client is gone."""

    def __init__(
        self, live: HttpSession, position: Position, transmit: Transmit, heartbeat: float, touch: Touch
    ) -> None:
        self._live = live
        self._stream = position.stream
        self._number = position.number
        self._transmit = transmit
        self._heartbeat = heartbeat
        self._touch = touch
        self._reader = position.stream.take_over()

    async def run(self, depart: Callable[[], Awaitable[None]], headers: Headers) -> None:
        await self._transmit(
            {"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *headers]}
        )
        departure = asyncio.get_running_loop().create_task(_departed(depart))
        await self._stream.follow()
        try:
            if self._live.session.peer.revision.http.priming:
                await self._part(sse.priming(self._stream.event_id(self._number)))
            else:
                await self._part(sse.comment())  # sends the response head at once
            while await self._send_new() and not departure.done():
                await self._wait(departure)
        except OSError:
            return  # the client is gone, and may resume later
        finally:
            departure.cancel()
            await self._stream.leave(self._number)
        await self._transmit({"type": "http.response.body", "body": b""})

    async def _send_new(self) -> bool:
        """Send new messages; false when no more will follow on this connection."""
        self._changed = self._stream.changed()
        if self._stream.reader != self._reader:
            return False
        try:
            events = await self._stream.after(self._number)
            if events is None:
                events = await self._remaining_events()
        except StoreAway:
            return True  # the next change or heartbeat tries again
        for number, data in events:
            await self._part(sse.event(data, event_id=self._stream.event_id(number)))
            self._number = number
            if self._stream is self._live.standalone:
                self._live.delivered = max(self._live.delivered, number)
        return not self._stream.finished

    async def _remaining_events(self) -> list[Event]:
        """The messages that the store still has of a stream whose oldest ones are gone, by binary search."""
        lost, events = self._number, []
        stored = self._stream.last
        while stored - lost > 1:
            middle = (lost + stored) // 2
            later = await self._stream.after(middle)
            if later is None:
                lost = middle
            else:
                stored, events = middle, later
        return events

    async def _wait(self, departure: asyncio.Task[None]) -> None:
        change = asyncio.get_running_loop().create_task(self._changed.wait())
        try:
            done, _ = await asyncio.wait(
                {change, departure}, timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            change.cancel()
        if not done:
            await self._part(sse.comment())
            await self._touch(self._live.id)  # a session with a connected client is in use

    async def _part(self, part: bytes) -> None:
        await self._transmit({"type": "http.response.body", "body": part, "more_body": True})


async def _departed(depart: Callable[[], Awaitable[None]]) -> None:
    await depart()
