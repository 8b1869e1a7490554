"""One POST and its answer: a JSON object when the handler only returns, an event stream from the
moment it sends anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Final, NamedTuple

from assay.model.error import INTERNAL_ERROR
from assay.model.jsonrpc import ErrorReply, Outcome
from assay.model.strictness import LENIENT, Strictness
from assay.protocol.codec import encode_outcome
from assay.protocol.framing import sse
from assay.protocol.http.asgi import Message, Transmit
from assay.protocol.http.gate import JSON, Admission, Headers, Refusal
from assay.revisions.revision import Revision

from .challenge import ERROR, FORBIDDEN, Challenge, bare_challenge, missing_scopes, scopes_of_batch
from .sessions import HttpSession
from .stream import Stream
from .types import Answer

EVENT_STREAM: Final[Headers] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    # Proxies that buffer would hold back events until the stream ends.
    (b"x-accel-buffering", b"no"),
]


async def respond(
    transmit: Transmit, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes = b""
) -> None:
    answer: Answer | None = getattr(transmit, "answer", None)  # see `Direct`
    if answer is not None and status != 204:
        return answer(status, tuple(headers), body)
    return await _respond_in_parts(transmit, status, headers, body)


async def refuse(transmit: Transmit, refusal: Refusal, headers: Headers) -> None:
    # Not directly: a refusal may have something to say about the connection.
    every = [JSON, *refusal.headers, *headers]
    await _respond_in_parts(transmit, refusal.status, every, refusal.body())


async def _respond_in_parts(
    transmit: Transmit, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes
) -> None:
    # A 204 has no body, and so no length either (RFC 9110, 8.6).
    length = [] if status == 204 else [(b"content-length", b"%d" % len(body))]
    await transmit({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
    await transmit({"type": "http.response.body", "body": body})


class Pace(NamedTuple):
    """How streams behave in time, in seconds."""

    heartbeat: float
    retry: float


class Exchange:
    """The answering side of one POST."""

    # Defaults on the class: most answers are one JSON object, and never touch these.
    _live: HttpSession | None = None
    _stream: Stream | None = None
    _attached: bool | None = None  # none: nothing sent yet; false: the connection was let go
    _lock: asyncio.Lock | None = None
    _pulse: asyncio.Task[None] | None = None

    def __init__(
        self, transmit: Transmit, admission: Admission, pace: Pace, challenge: Challenge | None = None
    ) -> None:
        self._challenge = challenge or bare_challenge
        self._transmit = transmit
        self._admission = admission
        self._pace = pace
        self.headers: Headers = list(admission.cors)

    def belong_to(self, live: HttpSession) -> None:
        """Keep what is sent, so that the client can resume."""
        self._live = live

    async def send(self, data: bytes) -> None:
        """Send a message that is not the answer; the first one opens the stream."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if self._attached is None:
                await self._open_stream()
            await self._write(data)

    async def detach(self, retry: float | None) -> None:
        """Close the connection early; the client comes back for the rest. Only where that is possible."""
        if self._live is None or not self._live.session.peer.revision.http.priming:
            return
        if self._attached is None:
            await self._open_stream()
        if self._attached:
            delay = self._pace.retry if retry is None else retry
            await self._transmit_part(sse.retry(round(delay * 1000)))
            await self._end()

    def accept(self) -> Awaitable[None]:
        """Finish without an answer, because none is due."""
        return respond(self._transmit, 202, self.headers)

    def answer(self, outcome: Outcome | None, revision: Revision) -> Awaitable[None]:
        """Finish with the answer; none when the request was cancelled."""
        if self._attached is not None:
            return self._answer_on_stream(outcome)
        if outcome is None:
            # Something must be said on HTTP; a stream that ends empty says that no answer follows.
            return respond(self._transmit, 200, [*EVENT_STREAM, *self.headers])
        missing = missing_scopes(outcome)
        if missing:
            return self._forbid(missing, encode_outcome(outcome))
        status = status_of(outcome, revision, self._admission.strictness)
        if self._admission.prefers_stream and status == 200:
            return self._answer_on_stream(outcome)
        return respond(self._transmit, status, [JSON, *self.headers], encode_outcome(outcome))

    def _forbid(self, scopes: tuple[str, ...], body: bytes) -> Awaitable[None]:
        """Tell what the client must be granted, before it may ask this again."""
        needed = (b"www-authenticate", self._challenge(FORBIDDEN, ERROR, scopes))
        return respond(self._transmit, FORBIDDEN, [JSON, needed, *self.headers], body)

    async def _answer_on_stream(self, outcome: Outcome | None) -> None:
        if self._attached is None:
            await self._open_stream()
        if outcome is not None:
            await self._write(encode_outcome(outcome))
        await self._finish()

    async def answer_batch(self, outcomes: list[Outcome]) -> None:
        body = b"[" + b",".join(map(encode_outcome, outcomes)) + b"]"
        if self._attached is None and (missing := scopes_of_batch(outcomes)):
            return await self._forbid(missing, body)
        if self._attached is None:
            return await respond(self._transmit, 200, [JSON, *self.headers], body)
        await self._write(body)
        return await self._finish()

    async def _finish(self) -> None:
        if self._stream is not None:
            self._stream.finish()
        if self._pulse is not None:
            self._pulse.cancel()
        if self._attached:
            await self._end()

    async def _open_stream(self) -> None:
        self._attached = True
        await self._try_transmit(
            {"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *self.headers]}
        )
        if self._live is not None:
            rules = self._live.session.peer.revision.http
            self._stream = await self._live.open_stream() if rules.resumable else None
            if rules.priming and self._stream is not None:
                await self._transmit_part(sse.priming(self._stream.event_id(0)))
        if self._attached:
            self._pulse = asyncio.get_running_loop().create_task(self._beat())

    async def _write(self, data: bytes) -> None:
        event_id = None if self._stream is None else await self._stream.append(data)
        if self._attached and self._stream is not None and self._stream.reader:
            # The client follows this stream on another connection by now: nothing goes to both.
            await self._end()
        if self._attached:
            await self._transmit_part(sse.event(data, event_id=event_id))

    async def _transmit_part(self, part: bytes) -> None:
        await self._try_transmit({"type": "http.response.body", "body": part, "more_body": True})

    async def _try_transmit(self, message: Message) -> None:
        """Send to a client that may be gone: that fails no handler, and what is kept waits for its return."""
        try:
            await self._transmit(message)
        except OSError:
            self._let_go()

    async def _end(self) -> None:
        self._let_go()
        await self._try_transmit({"type": "http.response.body", "body": b""})

    def _let_go(self) -> None:
        self._attached = False
        if self._pulse is not None and self._pulse is not asyncio.current_task():
            self._pulse.cancel()

    async def _beat(self) -> None:
        """Keep a silent connection alive, so that nothing on the way takes it for dead."""
        while self._attached:
            await asyncio.sleep(self._pace.heartbeat)
            await self._transmit_part(sse.comment())


def status_of(outcome: Outcome, revision: Revision, strictness: Strictness = LENIENT) -> int:
    if outcome.__class__ is not ErrorReply:
        return 200
    code = outcome.error.code
    # Never 404: in a session that would tell the client to begin a new one.
    otherwise = (500 if code == INTERNAL_ERROR else 400) if strictness.statuses else 200
    return revision.http.statuses.get(code, otherwise)
