"""The driver's side of a conversation with the subject: sends anything and waits for answers, never for time.

Return values only help a scenario to choose its next step. They are not evidence: checks read the trace.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from assay.lab.harness.links.broken_off import BrokenOff, NoAnswer
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.links.link import Link, Sent
from assay.lab.harness.links.stdio import StdioLink
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message, Shape, read_messages, same_id
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import NOT_RECEIVED, PROBE, PROBED, SENTINEL
from assay.revisions.revision import Opening, Revision

from .inbound import Notifications, Responder, usual_answer
from .message_meta import CLIENT, declared, param_headers
from .pending import Pending as Pending
from .pending import Reply as Reply

LONGEST_WAIT: Final = 6
"""Times the patience: how long progress can extend the wait for an answer."""
PAGES: Final = 100
"""Pages of a list to read at most; a check reports lists that never end."""
ROUND_TRIPS: Final = 2
"""Consecutive requests after whose answers a server has certainly read the messages sent before them."""
encode: Final = msgspec.json.Encoder().encode


class Peer:
    def __init__(
        self,
        recorder: Recorder,
        revision: Revision,
        *,
        name: str,
        patience: float,
        connect: Callable[[Peer], Link],
    ) -> None:
        self.revision = revision
        self.name = name
        self.patience = patience
        self.capabilities: dict[str, Any] = {}
        """Client capabilities that the driver declares."""
        self.responders: dict[str, Responder] = {}
        """Answers to requests of the subject that differ from the defaults, by method."""
        self.server_stream: Sent | None = None
        """The stream for messages that belong to no request, if one was opened."""
        self.link = connect(self)
        self.broken: BrokenOff | None = None
        self.is_open = False
        self.closed = False
        self._recorder = recorder
        self._pending: list[Pending] = []
        self._notifications = Notifications()
        self._ids = 0
        self._string_ids: set[str] = set()
        self._earlier: frozenset[str] = frozenset()
        """String ids of earlier scenarios in this conversation."""
        self._sentinels = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    # The link's side.

    def deliver(self, frame: Frame, body: bytes) -> None:
        for message in read_messages(frame, body):
            if message.is_response:
                self._settle(message)
            elif message.shape is Shape.REQUEST and not self.closed:
                self._background(self._respond(message))
            elif message.shape is Shape.NOTIFICATION:
                self._count(message)
                self._notifications.take(message)

    def _count(self, message: Message) -> None:
        if message.method == "notifications/progress":
            token = message.params.get("progressToken")
            for pending in self._pending:
                pending.progress += pending.token is not None and same_id(pending.token, token)
        elif message.method == "notifications/message":
            for pending in self._pending:
                pending.logs += 1

    def ended(self, channel: str) -> None:
        for pending in list(self._pending):
            if pending.sent is not None and pending.sent.channel == channel:
                self._finish(pending, None)

    def fail(self, reason: BrokenOff) -> None:
        self.broken = self.broken or reason
        for pending in self._pending:
            if not pending.over.done():
                pending.over.set_exception(self.broken)
                pending.over.exception()  # marks it as retrieved, in case nothing awaits the future
        self._pending.clear()

    def _settle(self, message: Message) -> None:
        # Answers come roughly in the order of the requests, so the search is short even among thousands.
        match = next((pending for pending in self._pending if pending.id == message.id), None)
        if match is not None:
            return self._finish(match, message)
        # A check reports an answer with a wrong id. The scenario takes it for the oldest request and
        # continues, so that one fault does not hide later ones.
        candidates = [pending for pending in self._pending if _may_be_for(message, pending)]
        wrong_id = not isinstance(message.id, int | str) or len(self._pending) == 1
        if candidates and wrong_id:
            self._finish(candidates[0], message)

    def _finish(self, pending: Pending, message: Message | None) -> None:
        self._pending.remove(pending)
        if not pending.over.done():
            pending.over.set_result(message)

    async def _respond(self, request: Message) -> None:
        answer = self.answer_to(request.method, request.params)
        if answer is not None:
            with contextlib.suppress(BrokenOff):
                await self.send({"jsonrpc": "2.0", "id": request.id, **answer})

    def _background(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # The scenario's side.

    @property
    def http(self) -> HttpLink:
        assert isinstance(self.link, HttpLink), "the scenario must declare `transports=HTTP_ONLY`"
        return self.link

    @property
    def stdio(self) -> StdioLink:
        assert isinstance(self.link, StdioLink), "the scenario must declare `transports=STDIO_ONLY`"
        return self.link

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def remembers(self, request_id: Any) -> bool:
        """Whether this id was used, and will not be used again."""
        return request_id in self._string_ids or (isinstance(request_id, int) and 0 < request_id <= self._ids)

    @property
    def is_idle(self) -> bool:
        """Whether the conversation is open, and nothing is in progress."""
        return self.broken is None and not (self.closed or self._pending or self._tasks)

    def move(self, recorder: Recorder, name: str) -> None:
        """Continue in another recording, in the state after the opening of the conversation."""
        self.name, self._recorder = name, recorder
        self._earlier = frozenset(self._string_ids)
        self.responders = {}
        self._notifications = Notifications()
        self.stdio.move(recorder, name)

    def mark(self, label: str, **info: Any) -> Frame:
        return self._recorder.mark(f"{self.name}/marks", label, **info)

    def answer_to(self, method: str, params: Any) -> dict[str, Any] | None:
        """The driver's answer to a request: `{"result": …}`, `{"error": …}` or None for no answer."""
        responder = self.responders.get(method)
        if responder is None:
            return usual_answer(method)
        return responder(params if isinstance(params, dict) else {})

    async def send(self, message: Any, *, headers: Mapping[str, str | None] | None = None) -> Sent:
        """Send a message, or raw bytes in place of one, in the transport's framing.

        Raises:
            BrokenOff: the conversation has ended.
        """
        if self.broken is not None:
            raise self.broken
        body = message if isinstance(message, bytes) else encode(message)
        return await self.link.send(body, message, headers or {})

    async def offer(self, message: Any, *, headers: Mapping[str, str | None] | None = None) -> Head | None:
        """Send a message that needs no answer; on HTTP, wait for the response."""
        sent = await self.send(message, headers=headers)
        return await sent.settled(self.patience)

    async def notify(self, method: str, params: Any = None) -> Head | None:
        return await self.offer({"jsonrpc": "2.0", "method": method, **_if_any(params)})

    async def start(
        self,
        method: str,
        params: Any = None,
        *,
        request_id: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Pending:
        """Send a request, with the `_meta` that the revision requires, without waiting for its answer."""
        number = self.next_id() if request_id is None else request_id
        self._remember(number)
        full = declared(self.revision, self._params(params), self.capabilities)
        pending = Pending(method, number, _token(full))
        self._pending.append(pending)
        message = {"jsonrpc": "2.0", "id": number, "method": method, **_if_any(full)}
        pending.sent = await self.send(message, headers=headers)
        return pending

    def _remember(self, request_id: Any) -> None:
        if request_id in self._earlier:
            raise BrokenOff(f"another scenario has already used the id {request_id!r} in this conversation")
        if isinstance(request_id, str):
            self._string_ids.add(request_id)

    def _params(self, params: Any) -> Any:
        return {} if params is None and self.revision.opening is Opening.PER_REQUEST else params

    async def answer(self, pending: Pending) -> Reply:
        """Wait for the answer. Progress extends the wait.

        Raises:
            NoAnswer: no answer in time; a mark records it in the trace.
            BrokenOff: the conversation has ended.
        """
        waited = await self.wait_answered(pending)
        if pending.over.done():
            return Reply(pending.over.result(), pending.sent.head if pending.sent else None)
        self.mark("no answer", id=pending.id, method=pending.method, waited=waited)
        raise NoAnswer(pending.method, waited)

    async def wait_answered(self, pending: Pending) -> float:
        """Wait until a request is over, or the patience for it. Returns the seconds that were allowed."""
        waited = 0.0
        for _ in range(LONGEST_WAIT):
            before = pending.progress
            await asyncio.wait({pending.over}, timeout=self.patience)
            waited += self.patience
            if pending.over.done() or pending.progress == before:
                break
        return waited

    async def request(self, method: str, params: Any = None, **options: Any) -> Reply:
        """Send a request and wait for its answer, or for the end of its HTTP response."""
        return await self.answer(await self.start(method, params, **options))

    async def wait_accepted(self, sent: Sent) -> Head | None:
        """Wait for the response to a request for a stream, for two round trips at most.

        Many servers send the head of a stream with its first event: the result is None then, and a head or a
        refusal may still arrive.
        """
        for _ in range(ROUND_TRIPS):
            if not sent.is_settled:
                await self.sentinel()
        return sent.head

    async def wait_for(
        self, method: str, during: Pending | Sent | None = None, **params: Any
    ) -> Message | None:
        """Wait for a notification with these parameters; each is returned once.

        Returns None if `during` ends first (its request is answered, or its stream refused), or on a timeout,
        which a mark records in the trace.
        """
        waiting = asyncio.ensure_future(self._notifications.next(method, params))
        until: set[asyncio.Future[Any]] = {waiting} if during is None else {waiting, during.over}
        await asyncio.wait(until, timeout=self.patience, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        if during is None or not during.over.done():
            self.mark(NOT_RECEIVED, method=method, params=params, waited=self.patience)
        return None

    def expect(self, method: str, request_id: Any) -> Pending:
        """Register a request that the scenario sends as raw bytes, to wait for its answer."""
        pending = Pending(method, request_id)
        self._pending.append(pending)
        return pending

    async def batch(self, *messages: dict[str, Any]) -> None:
        """Send messages as one batch and wait until its requests are answered, individually or as a whole.

        Raises:
            NoAnswer: a request was not answered in time.
        """
        requests = [self.expect(message["method"], message["id"]) for message in messages if "id" in message]
        sent = await self.send(list(messages))
        for pending in requests:
            pending.sent = sent
        try:
            for pending in requests:
                reply = await self.answer(pending)
                if reply.message is None or reply.message.id != pending.id:
                    break
        finally:
            self.forget(requests)

    def forget(self, expected: Sequence[Pending]) -> None:
        """Stop waiting for these answers, so that answers without an id go to other requests."""
        self._pending = [pending for pending in self._pending if pending not in expected]

    async def sentinel(self) -> Reply:
        """Send a request that any server answers: after its answer, earlier replies have been sent, too."""
        self._sentinels += 1
        method = "ping" if "ping" in self.revision.requests else "server/discover"
        return await self.request(method, request_id=f"{SENTINEL}{self.name}-{self._sentinels}")

    @contextlib.asynccontextmanager
    async def probe(self, name: str, **info: Any) -> AsyncIterator[None]:
        """Mark an attempt for checks (`trace.probes`). It ends after the answer to a sentinel."""
        begin = self.mark(PROBE, name=name, **info)
        yield
        await self.sentinel()
        self.mark(PROBED, name=name, begin=begin.n)

    async def handshake(self) -> Reply | None:
        """Open the conversation as the revision requires; None if it has no handshake."""
        if self.revision.opening is Opening.PER_REQUEST:
            return None
        reply = await self.initialize()
        await self.notify("notifications/initialized")
        return reply

    async def initialize(self, **changed: Any) -> Reply:
        """Send `initialize` with changed parameters; those that are None are omitted."""
        usual = {
            "protocolVersion": self.revision.date,
            "capabilities": self.capabilities,
            "clientInfo": CLIENT,
        }
        params = {key: value for key, value in {**usual, **changed}.items() if value is not None}
        reply = await self.request("initialize", params)
        version = reply.result.get("protocolVersion")
        self.link.agreed(reply.head, version if isinstance(version, str) else self.revision.date)
        return reply

    async def pages(self, method: str, key: str) -> list[Any]:
        """All items of a paginated list."""
        items: list[Any] = []
        params: dict[str, Any] = {}
        for _ in range(PAGES):
            reply = await self.request(method, params)
            page = reply.result.get(key)
            items += page if isinstance(page, list) else []
            cursor = reply.result.get("nextCursor")
            if not isinstance(cursor, str):
                break
            params = {"cursor": cursor}
        return items

    async def call(self, tool: Mapping[str, Any], arguments: dict[str, Any], **options: Any) -> Reply:
        """Call a tool by its definition, with the headers that the revision requires for its arguments."""
        headers = param_headers(dict(tool), arguments) if self.revision.http.mirrored else {}
        params = {"name": tool["name"], "arguments": arguments}
        return await self.request(
            "tools/call", params, headers={**headers, **options.pop("headers", {})}, **options
        )

    async def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.link.close()


def _may_be_for(message: Message, pending: Pending) -> bool:
    """Whether an answer with a wrong id may belong to a request. An error without the id of a sentinel is
    about an earlier message, such as malformed bytes: the sentinel must still be awaited."""
    is_sentinel = isinstance(pending.id, str) and pending.id.startswith(SENTINEL)
    return not (is_sentinel and "error" in message.fields)


def _token(params: Any) -> Any:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _if_any(params: Any) -> dict[str, Any]:
    return {} if params is None else {"params": params}
