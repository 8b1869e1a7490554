"""Streamable HTTP from the client's side: one POST for each message, streams for answers and messages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable
from itertools import chain, count, repeat
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Struct

from assay.model.client_error import ClientError, ConnectionFailed, HttpFailure, InvalidAnswer, ServerError
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.jsonrpc import ErrorBody, Notification, Request
from assay.protocol.codec import encode
from assay.protocol.http.parameter_header import HeaderParameter, header_parameters
from assay.revisions.revision import Revision

from .http_connection import HttpConnection
from .http_head import mirror_lines, request_head
from .http_hint import failure_hint
from .http_pool import HttpPool
from .http_reply import EVENT_STREAM, HttpReply
from .message import Outgoing
from .port import REFUSALS, REPEATABLE, Authorizer, Link, Receiver, RefusedRequest, SessionGone
from .url import Address, absolute, redirected
from .url_link import DEFAULT, UrlLink, UrlOptions

ACCEPT: Final = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
KEEPS_METHOD: Final = frozenset({307, 308})
NO_POST: Final = frozenset({400, 404, 405})
"""Statuses for `initialize` that HTTP+SSE servers answer with (basic/transports#backwards-compatibility)."""
SESSION: Final = "mcp-session-id"
LASTING: Final = 5.0
"""Seconds after which the end of a stream is not a failure: proxies and servers limit them."""
DEFAULT_RETRY: Final = 1.0
MOST_RETRY: Final = 30.0
QUICK: Final = 5
"""Streams in a row that may follow as quickly as the server says."""
LEAST_RETRY: Final = 0.1
"""Seconds before later ones; the pause grows from there."""
BUSY: Final = frozenset({429, 502, 503, 504})
"""Statuses of a server or proxy that may work again soon."""


class _Refusal(Struct):
    error: ErrorBody


class HttpTask(NamedTuple):
    """A request to send: everything but where it goes."""

    method: str
    lines: str
    body: bytes
    repeatable: bool
    on_stream: Callable[[], None] | None = None
    """Called when the response begins, if it is a stream."""


class HttpLink(UrlLink):
    is_stateless = True
    is_process = False

    def __init__(self, address: Address, limits: ClientLimits, options: UrlOptions = DEFAULT) -> None:
        super().__init__(address, limits, options)
        proxy = options.proxy
        self._is_forwarded = proxy is not None and proxy.forwards(address)
        if proxy is not None and self._is_forwarded:
            self._user_lines += proxy.line
        self._pool = HttpPool(address, limits, options.tls, proxy)
        self._room = asyncio.Semaphore(limits.connections)
        self._calls = 0
        self.session_id: str | None = None
        self._revision: Revision | None = None
        self._parameters: dict[str, tuple[HeaderParameter, ...]] = {}
        """Arguments that are repeated in headers, by tool."""

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def cancel(self, notice: Notification, revision: Revision) -> Coroutine[Any, Any, None] | None:
        return None if revision.http.disconnect_cancels else self.send(notice, revision)

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        # Instead of those of an earlier list: names that always differ must not add up.
        read = ((tool.name, header_parameters(tool.input_schema)) for tool in tools)
        self._parameters = {name: parameters for name, parameters in read if parameters}

    def context(self) -> str:
        return "" if self._authorizer is None else self._authorizer.context()

    def fallback(self, failure: HttpFailure | None) -> Link | None:
        if failure is not None and failure.status not in NO_POST:
            return None
        from .http_sse import SseLink

        return SseLink(self)

    async def send(self, message: Outgoing, revision: Revision) -> None:
        if not isinstance(message, Request) or message.method == "subscriptions/listen":
            # Not within the limit: a call may wait for the answer to a question, and streams stay open.
            return await self._send(message, revision)
        async with self._room:
            self._calls += 1
            try:
                await self._send(message, revision)
            finally:
                self._calls -= 1

    async def _send(self, message: Outgoing, revision: Revision) -> None:
        self._revision = revision
        request_id = message.id if isinstance(message, Request) else None
        is_opening = request_id is not None and message.method == "initialize"  # type: ignore[union-attr]
        if is_opening:
            self.session_id = None
        lines = ACCEPT if is_opening else ACCEPT + self._session_lines(revision)
        lines += mirror_lines(message, revision, self._parameters)
        repeatable = request_id is None or message.method in REPEATABLE  # type: ignore[union-attr]
        task = HttpTask("POST", lines, encode(message), repeatable)
        session = self.session_id
        reply = await self._exchange(task, request_id)
        if not reply.is_success:
            raise self._failure(reply, session)
        if is_opening:
            self.session_id = self._read_session(reply)
        if request_id is None:
            return
        if reply.is_stream:
            await self._finish_stream(reply, request_id, revision)
        else:
            self._take_body(reply)

    def _session_lines(self, revision: Revision) -> str:
        lines = ""
        if revision.http.version_header or revision.http.mirrored is not None:
            lines = f"MCP-Protocol-Version: {revision.date}\r\n"
        if self.session_id is not None and revision.http.sessions:
            lines += f"Mcp-Session-Id: {self.session_id}\r\n"
        return lines

    def _read_session(self, reply: HttpReply) -> str | None:
        session = reply.headers.get(SESSION)
        if session is not None and not (
            0 < len(session) <= 1024 and session.isascii() and session.isprintable()
        ):
            raise InvalidAnswer("the server's Mcp-Session-Id is not visible ASCII")
        return session

    async def _exchange(self, task: HttpTask, request_id: object) -> HttpReply:
        """Send a request and wait for its response, over redirects within the origin."""
        address, redirects = self._address, 0
        while True:
            if self._authorizer is None:
                reply = await self._exchange_once(task, address, request_id)
            else:
                reply = await self._exchange_authorized(self._authorizer, task, address, request_id)
            if reply.status not in REDIRECTS:
                return reply
            if (redirects := redirects + 1) > self._limits.redirects:
                raise HttpFailure(address.url, reply.status, "", reply.headers, "too many redirects")
            address = self._follow_redirect(reply, address)

    async def _exchange_authorized(
        self, authorizer: Authorizer, task: HttpTask, address: Address, request_id: object
    ) -> HttpReply:
        """Send a request with a token; again if the server refuses it, and there is another token."""
        for attempt in count():
            lines, generation = await authorizer.lines(task.method, address.url)
            reply = await self._exchange_once(task._replace(lines=lines + task.lines), address, request_id)
            if reply.status not in REFUSALS or task.method == "DELETE":
                return reply  # the end of a session is not worth an authorization
            version = None if self._revision is None else self._revision.date
            refused = RefusedRequest(
                reply.status, reply.headers, address.url, generation, attempt, version, reply.peer
            )
            if not await authorizer.recover(refused):
                return reply
        raise AssertionError

    def _follow_redirect(self, reply: HttpReply, address: Address) -> Address:
        location = reply.headers.get("location", "")
        hint = f"redirected to {location}: use that URL if you trust it"
        failure = HttpFailure(address.url, reply.status, "", reply.headers, hint)
        try:
            following = redirected(address, location)
        except ValueError:
            raise failure from None
        if following is None or not location or reply.status not in KEEPS_METHOD:
            raise failure
        return following

    async def _exchange_once(self, task: HttpTask, address: Address, request_id: object) -> HttpReply:
        place = absolute(address) if self._is_forwarded else address
        head = request_head(task.method, place, self._user_lines + task.lines)
        length = f"Content-Length: {len(task.body)}\r\n\r\n" if task.method == "POST" else "\r\n"
        request = (head + length).encode("latin-1") + task.body
        connection = self._pool.take_idle() or await self._pool.open()
        reply = self._new_reply(task, request_id)
        reply.on_stream = task.on_stream
        connection.exchange(request, reply)
        try:
            await reply.done
        except ConnectionFailed:
            # An idle connection may close just when it is used. Only what has no effect is sent twice.
            if reply.untouched and connection.reused and task.repeatable:
                return await self._exchange_once(task, address, request_id)
            raise
        except asyncio.CancelledError:
            connection.abort()
            raise
        if reply.status in REFUSALS and self._proxy is None:
            reply.peer = connection.peer
        if not connection.is_idle:  # busy with this response, or already with the next one
            self._leave(connection, reply)
        return reply

    def _leave(self, connection: HttpConnection, reply: HttpReply) -> None:
        """Deal with a response that has not ended, though nothing more of it is needed."""
        if reply.answered:
            # The server should end the stream now; then the connection can be used again.
            loop = asyncio.get_running_loop()
            loop.call_later(self._limits.close_timeout, connection.abort_if, reply)
        else:
            connection.abort_if(reply)  # another request may use it already

    def _new_reply(self, task: HttpTask, request_id: object) -> HttpReply:
        return HttpReply(self._limits, self._codec, self._receiver.receive, request_id)

    def _take_body(self, reply: HttpReply) -> None:
        body = reply.body
        if reply.media_type != "application/json" or not body.strip():
            kind = reply.media_type or "no content type"
            problem = f"the server answered with status {reply.status} and {kind}, not with a message"
            raise HttpFailure(
                self._address.url,
                reply.status,
                _text(body),
                reply.headers,
                f"{problem}: is this an MCP endpoint?",
            )
        if not reply.take(body):
            raise InvalidAnswer("the server's answer does not have the id of the request")

    # Failures.

    def _failure(self, reply: HttpReply, session: str | None) -> ClientError:
        body, status, url = _text(reply.body), reply.status, self._address.url
        if status == 404 and session is not None:
            hint = "the server has ended the session"
            return SessionGone(url, status, body, reply.headers, hint)
        error = _read_refusal(reply.body) if status not in (401, 403) else None
        if error is not None:
            return ServerError(error.code, error.message, None if error.data is UNSET else error.data, status)
        return HttpFailure(url, status, body, reply.headers, failure_hint(status, reply.headers))

    # Streams that end before their answer, and what the server sends on its own.

    async def _finish_stream(self, reply: HttpReply, request_id: object, revision: Revision) -> None:
        """Wait for the answer on further streams, if the server supports that."""
        clock = asyncio.get_running_loop().time
        attempts, heard = 0, clock()
        for least in chain(repeat(0.0, QUICK), repeat(LEAST_RETRY)):
            if reply.answered:
                return
            if not reply.events.last_event_id or not revision.http.resumable:
                raise ConnectionFailed("the server ended the stream before the answer; the call may have run")
            pause = max(_pause(_delay(reply), attempts), least)
            if attempts >= QUICK and clock() + pause > heard + self._resume:
                raise ConnectionFailed(
                    f"the answer did not arrive on {attempts} further streams; the call may have run"
                )
            await asyncio.sleep(pause)
            attempts += 1
            last, retry_ms = reply.events.last_event_id, reply.events.retry_ms
            try:
                reply = await self._get(revision, last, request_id)
            except ConnectionFailed:
                continue
            if not reply.is_stream:
                raise self._failure(reply, self.session_id)
            if reply.events.last_event_id:
                attempts, heard = 0, clock()
            else:
                reply.events.last_event_id, reply.events.retry_ms = last, retry_ms

    async def _get(
        self,
        revision: Revision,
        last: str,
        request_id: object,
        on_stream: Callable[[], None] | None = None,
    ) -> HttpReply:
        resume = f"Last-Event-ID: {last}\r\n" if last.isascii() and last.isprintable() and last else ""
        lines = f"Accept: {EVENT_STREAM}\r\n" + self._session_lines(revision) + resume
        return await self._exchange(HttpTask("GET", lines, b"", True, on_stream), request_id)

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        if not revision.http.sessions:
            return
        attempts, last, clock = 0, "", asyncio.get_running_loop().time
        while True:
            delay, start, session = DEFAULT_RETRY, clock(), self.session_id
            try:
                reply = await self._get(revision, last, None, opened)
            except ClientError:
                attempts += 1
            else:
                if reply.is_stream:
                    last, delay = reply.events.last_event_id or last, _delay(reply)
                    attempts = 0 if clock() - start >= LASTING else attempts + 1
                elif reply.status == 404 and session is not None:
                    return self._report_end(reply, session)
                elif reply.status not in BUSY:
                    return  # the server offers no such stream
                else:
                    attempts += 1
            opened()
            await asyncio.sleep(_pause(delay, attempts))

    def _report_end(self, reply: HttpReply, session: str) -> None:
        """The server has forgotten the session: a client that only listens would not notice. Calls in
        progress may still be answered, and the next one is refused and opens a session."""
        if not self._calls:
            self._receiver.lost(lambda: self._failure(reply, session))

    async def close(self) -> None:
        session, self.session_id = self.session_id, None
        if session is not None and self._revision is not None:
            lines = f"Mcp-Session-Id: {session}\r\n" + self._session_lines(self._revision)
            with contextlib.suppress(ClientError, TimeoutError):
                async with asyncio.timeout(self._limits.close_timeout):
                    await self._exchange(HttpTask("DELETE", lines, b"", repeatable=True), None)
        await self._pool.close()


def _delay(reply: HttpReply) -> float:
    ms = reply.events.retry_ms
    return DEFAULT_RETRY if ms is None else min(ms / 1000, MOST_RETRY)


def _pause(delay: float, attempts: int) -> float:
    """Seconds before a stream: what the server says, and more if many ended soon."""
    if attempts <= QUICK:
        return delay
    from random import random  # takes a while to import, and few clients need it

    longest = max(delay, LEAST_RETRY) * 2.0 ** min(attempts - QUICK, 16)
    return max(delay, min(longest, MOST_RETRY) * (1 - 0.5 * random()))


def _text(body: bytes) -> str:
    return body[:2000].decode(errors="replace")


def _read_refusal(body: bytes) -> ErrorBody | None:
    """The JSON-RPC error in the body of a refusal, if it is one."""
    try:
        return msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.DecodeError, RecursionError):
        return None
