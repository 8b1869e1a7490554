"""The response to one POST: a JSON object if the handler only returns, an event stream from the first other
message that it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Final, NamedTuple

from assay.model.error import (
    BUSY,
    INTERNAL_ERROR,
    RETRY_AFTER,
    UNSUPPORTED_VERSION,
    MalformedMessage,
    RpcError,
    StoreAway,
)
from assay.model.jsonrpc import Envelope, ErrorReply, Outcome
from assay.model.strictness import LENIENT, Strictness
from assay.protocol.codec import encode_outcome, error_reply, known_id
from assay.protocol.framing import sse
from assay.protocol.http.asgi import Message, Transmit
from assay.protocol.http.busy import UNAVAILABLE, retry_after
from assay.protocol.http.head_policy import JSON, Admission, Headers, Refusal
from assay.revisions.revision import Revision

from .challenge import ERROR, FORBIDDEN, Challenge, bare_challenge, missing_scopes, scopes_of_batch
from .send import WholeResponseSend
from .sessions import HttpSession
from .stream import Stream

EVENT_STREAM: Final[Headers] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    # nginx and others buffer responses: events would not arrive before the stream ends.
    (b"x-accel-buffering", b"no"),
]
MAX_DELAY: Final = 86_400
"""Seconds. A client need not remember a refusal for longer."""
CANCELLED: Final = sse.comment("the client cancelled this request: no answer follows")
"""The response to a request that its client cancelled. No answer may follow, but HTTP needs a response, and
requests get JSON or an event stream. An empty one would look like a failure on the way."""

DIED: Final = "the process that served this request has ended; whether it had finished its work is unknown"


async def respond(
    transmit: Transmit, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes = b""
) -> None:
    """Send a whole response by plain ASGI."""
    # A 204 response must not have a Content-Length (RFC 9110, 8.6).
    length = [] if status == 204 else [(b"content-length", b"%d" % len(body))]
    await transmit({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
    await transmit({"type": "http.response.body", "body": body})


async def refuse(transmit: Transmit, refusal: Refusal, headers: Headers) -> None:
    await respond(transmit, refusal.status, [JSON, *refusal.headers, *headers], refusal.body())


class StreamTiming(NamedTuple):
    """Intervals of event streams, in seconds."""

    heartbeat: float
    retry: float


class Exchange:
    """The response to one POST."""

    # Defaults on the class: most responses are one JSON object, and never use these.
    _live: HttpSession | None = None
    _payload: Envelope | list[Envelope | MalformedMessage]
    _stream: Stream | None = None
    _attached: bool | None = None  # none: nothing sent yet; false: the stream has left this connection
    _lock: asyncio.Lock | None = None
    _heartbeat_task: asyncio.Task[None] | None = None

    def __init__(
        self,
        transmit: Transmit,
        whole_send: WholeResponseSend | None,
        admission: Admission,
        timing: StreamTiming,
        challenge: Challenge | None = None,
    ) -> None:
        self._challenge = challenge or bare_challenge
        self._transmit = transmit
        self._whole_send = whole_send
        self._admission = admission
        self._timing = timing
        self.headers: Headers = list(admission.cors)

    def bind_session(self, live: HttpSession, payload: Envelope | list[Envelope | MalformedMessage]) -> None:
        """Store what is sent in this session, so that the client can resume."""
        self._live, self._payload = live, payload

    async def send(self, data: bytes) -> None:
        """Send a message before the answer; the first one opens the stream."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if self._attached is None:
                await self._open_stream()
            await self._write(data)

    async def detach(self, retry: float | None) -> None:
        """Close the connection early; the client reconnects for the rest. Does nothing where it cannot."""
        if self._live is None or not self._live.session.peer.revision.http.priming:
            return
        if self._attached is None:
            await self._open_stream()
        if self._attached and self._stream is not None:
            delay = self._timing.retry if retry is None else retry
            await self._transmit_part(sse.retry(round(delay * 1000)))
            await self._end()

    def accept(self) -> Awaitable[None]:
        """Finish with 202: notifications and responses get no answer."""
        if self._attached is not None:
            return self._finish()  # a batch whose only request sent something, and was cancelled
        return self._respond(202, self.headers)

    def answer(self, outcome: Outcome | None, revision: Revision) -> Awaitable[None]:
        """Finish with the answer to a request; `outcome` is none when the request was cancelled."""
        if self._attached is not None:
            return self._answer_on_stream(outcome)
        if outcome is None:
            return self._respond(200, [*EVENT_STREAM, *self.headers], CANCELLED)
        missing = missing_scopes(outcome)
        if missing:
            return self._forbid(missing, encode_outcome(outcome))
        status = status_of(outcome, revision, self._admission.strictness)
        if self._admission.prefers_stream and status == 200:
            return self._answer_on_stream(outcome)
        retry = [retry_after(_delay(outcome))] if status == UNAVAILABLE else []
        return self._respond(status, [JSON, *retry, *self.headers], encode_outcome(outcome))

    async def _respond(self, status: int, headers: Headers, body: bytes = b"") -> None:
        if self._whole_send is not None:
            return self._whole_send.respond(status, tuple(headers), body)
        return await respond(self._transmit, status, headers, body)

    def _forbid(self, scopes: tuple[str, ...], body: bytes) -> Awaitable[None]:
        """Refuse with a challenge that names the scopes which the client needs (RFC 6750, 3.1)."""
        challenge = (b"www-authenticate", self._challenge(FORBIDDEN, ERROR, scopes))
        return self._respond(FORBIDDEN, [JSON, challenge, *self.headers], body)

    async def _answer_on_stream(self, outcome: Outcome | None) -> None:
        if self._attached is None:
            await self._open_stream()
        if outcome is not None:
            await self._write(encode_outcome(outcome), is_last=True)
        await self._finish()

    async def answer_batch(self, outcomes: list[Outcome]) -> None:
        body = b"[" + b",".join(map(encode_outcome, outcomes)) + b"]"
        if self._attached is None and (missing := scopes_of_batch(outcomes)):
            return await self._forbid(missing, body)
        if self._attached is None:
            return await self._respond(200, [JSON, *self.headers], body)
        await self._write(body, is_last=True)
        return await self._finish()

    async def _finish(self) -> None:
        if self._stream is not None:
            await self._stream.end()
        self._stop_heartbeats()
        if self._attached:
            await self._end()

    async def _open_stream(self) -> None:
        self._attached = True
        await self._try_transmit(
            {"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *self.headers]}
        )
        if self._live is not None:
            rules = self._live.session.peer.revision.http
            failure = died_reply(self._payload)
            try:
                self._stream = await self._live.open_stream(failure) if rules.resumable else None
            except StoreAway:
                pass  # a stream that cannot be resumed is better than none
            if rules.priming and self._stream is not None:
                await self._transmit_part(sse.priming(self._stream.event_id(0)))
        if self._attached:
            self._heartbeat_task = asyncio.get_running_loop().create_task(self._send_heartbeats())

    async def _write(self, data: bytes, *, is_last: bool = False) -> None:
        event_id = None if self._stream is None else await self._stream.append(data, is_last=is_last)
        if self._attached and self._stream is not None and (self._stream.reader or self._stream.is_taken):
            # The client follows this stream on another connection by now, and a message is sent only once.
            await self._end()
        if self._attached:
            await self._transmit_part(sse.event(data, event_id=event_id))

    async def _transmit_part(self, part: bytes) -> None:
        await self._try_transmit({"type": "http.response.body", "body": part, "more_body": True})

    async def _try_transmit(self, message: Message) -> None:
        """Send to a client that may be gone. That must not fail the handler: the client can resume later."""
        try:
            await self._transmit(message)
        except OSError:
            self._detach_stream()

    async def _end(self) -> None:
        self._detach_stream()
        await self._try_transmit({"type": "http.response.body", "body": b""})

    def _detach_stream(self) -> None:
        self._attached = False
        self._stop_heartbeats()

    def _stop_heartbeats(self) -> None:
        # The exception of a cancelled task refers to this object: keep no reference to the task.
        task, self._heartbeat_task = self._heartbeat_task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _send_heartbeats(self) -> None:
        """Send comments, so that no proxy closes a silent connection as idle."""
        while self._attached:
            await asyncio.sleep(self._timing.heartbeat)
            await self._transmit_part(sse.comment())


def died_reply(payload: Envelope | list[Envelope | MalformedMessage]) -> bytes:
    """The answer to a message whose process has died, for those that read its stream."""
    if isinstance(payload, list):
        members = (member for member in payload if isinstance(member, Envelope))
        return (
            b"[" + b",".join(died_reply(member) for member in members if known_id(member) is not None) + b"]"
        )
    return encode_outcome(error_reply(RpcError(INTERNAL_ERROR, DIED), known_id(payload)))


def _delay(outcome: Outcome) -> float:
    """Seconds until a request that was refused as busy may be sent again."""
    data = outcome.error.data if isinstance(outcome, ErrorReply) else None
    seconds = data.get(RETRY_AFTER) if isinstance(data, dict) else None
    return seconds if isinstance(seconds, int | float) and 0 < seconds < MAX_DELAY else 1


def status_of(outcome: Outcome, revision: Revision, strictness: Strictness = LENIENT) -> int:
    if outcome.__class__ is not ErrorReply:
        return 200
    code = outcome.error.code
    if code == BUSY:
        return UNAVAILABLE
    if code == UNSUPPORTED_VERSION:
        return 400  # on every revision (basic/transports#protocol-version-header)
    # Never 404: in a session, that makes the client start a new one.
    otherwise = (500 if code == INTERNAL_ERROR else 400) if strictness.statuses else 200
    return revision.http.statuses.get(code, otherwise)
