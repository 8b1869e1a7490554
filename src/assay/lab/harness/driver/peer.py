"""The driver's end of one conversation with the subject: sends anything, waits for answers, never for time.

What a peer returns helps a scenario to choose its next step. It is no evidence: checks read the trace.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.links.broken_off import BrokenOff, NoAnswer
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.links.link import Link, Sent
from assay.lab.harness.links.stdio import StdioLink
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message, Shape, read_messages
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import NOT_HEARD, PROBE, PROBED, SENTINEL
from assay.revisions.revision import Opening, Revision

from .message_meta import CLIENT, declared
from .mirrored_header import param_headers
from .notification import Notifications
from .responder import Responder, usual_answer

PAGES: Final = 100
"""Pages of one list that are followed: more is a server that never ends, and a check's affair."""
ROUND_TRIPS: Final = 2
"""Requests, one after the other, in whose time a server has surely seen what was sent before them."""
encode: Final = msgspec.json.Encoder().encode


class Reply(Struct, frozen=True):
    """The answer to a request, as far as there was one."""

    message: Message | None = None
    head: Head | None = None

    @property
    def result(self) -> dict[str, Any]:
        return self.message.result if self.message is not None else {}

    @property
    def code(self) -> Any:
        return None if self.message is None else self.message.code

    @property
    def is_result(self) -> bool:
        return self.message is not None and self.message.shape is Shape.RESULT

    @property
    def status(self) -> int | None:
        return None if self.head is None else self.head.status


class Pending:
    """A request that was sent and whose answer nobody has waited for yet."""

    def __init__(self, method: str, request_id: Any) -> None:
        self.method = method
        self.id = request_id
        self.sent: Sent | None = None
        self.future: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()

    @property
    def over(self) -> asyncio.Future[Message | None]:
        return self.future


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
        """What this driver declares as a client."""
        self.responders: dict[str, Responder] = {}
        """How it answers the subject's requests, where not as usual."""
        self.ears: Sent | None = None
        """The stream for what belongs to no request, where one was opened to hear something there."""
        self.link = connect(self)
        self.broken: BrokenOff | None = None
        self.greeted = False
        self.closed = False
        self._recorder = recorder
        self._pending: list[Pending] = []
        self._notices = Notifications()
        self._ids = 0
        self._named: set[str] = set()
        self._earlier: frozenset[str] = frozenset()
        """Ids that are words: all of them, and those of scenarios that this conversation served before."""
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
                self._notices.take(message)

    def ended(self, channel: str) -> None:
        for pending in list(self._pending):
            if pending.sent is not None and pending.sent.channel == channel:
                self._finish(pending, None)

    def fail(self, reason: BrokenOff) -> None:
        self.broken = self.broken or reason
        for pending in self._pending:
            if not pending.future.done():
                pending.future.set_exception(self.broken)
                pending.future.exception()  # nobody may wait for it: that is no error of ours
        self._pending.clear()

    def _settle(self, message: Message) -> None:
        # Answers come about in the order of their requests: the search seldom goes far, also among thousands.
        fit = next((one for one in self._pending if one.id == message.id), None)
        if fit is not None:
            return self._finish(fit, message)
        # An answer with a wrong id is for a check to find. The scenario goes on as if it were the oldest's,
        # so that one fault does not hide what follows it.
        waiting = [one for one in self._pending if _may_be_for(message, one)]
        strange = not isinstance(message.id, int | str) or len(self._pending) == 1
        if waiting and strange:
            self._finish(waiting[0], message)

    def _finish(self, pending: Pending, message: Message | None) -> None:
        self._pending.remove(pending)
        if not pending.future.done():
            pending.future.set_result(message)

    async def _respond(self, asked: Message) -> None:
        answer = self.answer_to(asked.method, asked.params)
        if answer is not None:
            with contextlib.suppress(BrokenOff):
                await self.send({"jsonrpc": "2.0", "id": asked.id, **answer})

    def _background(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # The scenario's side.

    @property
    def http(self) -> HttpLink:
        assert isinstance(self.link, HttpLink), "the scenario must say `transports=HTTP_ONLY`"
        return self.link

    @property
    def stdio(self) -> StdioLink:
        assert isinstance(self.link, StdioLink), "the scenario must say `transports=STDIO_ONLY`"
        return self.link

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def remembers(self, request_id: Any) -> bool:
        """Whether it will never use that id of a past request again."""
        return request_id in self._named or (isinstance(request_id, int) and 0 < request_id <= self._ids)

    @property
    def is_idle(self) -> bool:
        """Whether the conversation could go on, and nothing is under way."""
        return self.broken is None and not (self.closed or self._pending or self._tasks)

    def move(self, recorder: Recorder, name: str) -> None:
        """Go on in another recording, as if nothing had been said since the conversation was opened."""
        self.name, self._recorder = name, recorder
        self._earlier = frozenset(self._named)
        self.responders = {}
        self._notices = Notifications()
        self.stdio.move(recorder, name)

    def mark(self, label: str, **info: Any) -> Frame:
        return self._recorder.mark(f"{self.name}/marks", label, **info)

    def answer_to(self, method: str, params: Any) -> dict[str, Any] | None:
        """What this driver answers to a question: `{"result": …}` or `{"error": …}`; none for nothing."""
        responder = self.responders.get(method)
        if responder is None:
            return usual_answer(method)
        return responder(params if isinstance(params, dict) else {})

    async def send(self, message: Any, *, headers: Mapping[str, str | None] | None = None) -> Sent:
        """Send one message, or any bytes in place of one, framed as the transport does.

        Raises:
            BrokenOff: the conversation is over.
        """
        if self.broken is not None:
            raise self.broken
        body = message if isinstance(message, bytes) else encode(message)
        return await self.link.send(body, message, headers or {})

    async def offer(self, message: Any, *, headers: Mapping[str, str | None] | None = None) -> Head | None:
        """Send something that need not be answered; on HTTP wait until its request is."""
        sent = await self.send(message, headers=headers)
        return await sent.settled(self.patience)

    async def notify(self, method: str, params: Any = None) -> Head | None:
        return await self.offer({"jsonrpc": "2.0", "method": method, **_given(params)})

    async def start(
        self,
        method: str,
        params: Any = None,
        *,
        request_id: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Pending:
        """Send a request without waiting for its answer; parameters are declared as the revision wants."""
        number = self.next_id() if request_id is None else request_id
        self._remember(number)
        pending = Pending(method, number)
        self._pending.append(pending)
        full = declared(self.revision, self._params(params), self.capabilities)
        message = {"jsonrpc": "2.0", "id": number, "method": method, **_given(full)}
        pending.sent = await self.send(message, headers=headers)
        return pending

    def _remember(self, request_id: Any) -> None:
        if request_id in self._earlier:
            raise BrokenOff(f"another scenario has used the id {request_id!r} in this conversation")
        if isinstance(request_id, str):
            self._named.add(request_id)

    def _params(self, params: Any) -> Any:
        return {} if params is None and self.revision.opening is Opening.PER_REQUEST else params

    async def answer(self, pending: Pending) -> Reply:
        """
        Raises:
            NoAnswer: none in time; a mark says so in the trace.
            BrokenOff: the conversation is over.
        """
        try:
            async with asyncio.timeout(self.patience):
                message = await pending.future
        except TimeoutError:
            self.mark("no answer", id=pending.id, method=pending.method, waited=self.patience)
            raise NoAnswer(pending.method, self.patience) from None
        return Reply(message, pending.sent.head if pending.sent else None)

    async def request(self, method: str, params: Any = None, **options: Any) -> Reply:
        """Send a request and wait for its answer, or for the end of the HTTP response to it."""
        return await self.answer(await self.start(method, params, **options))

    async def taken(self, sent: Sent) -> Head | None:
        """Wait until a request for a stream is answered, or was before the subject for two round trips.

        Many servers keep the head of a stream until its first event: none then, and a head or a refusal may
        still come. The trace will have it.
        """
        for _ in range(ROUND_TRIPS):
            if not sent.is_settled:
                await self.sentinel()
        return sent.head

    async def hear(self, method: str, during: Pending | Sent | None = None, **params: Any) -> Message | None:
        """Wait for a notification with these parameters; each is heard once.

        None if it did not come in time, which a mark says in the trace, or if what it should come during was
        over before: a request answered, a stream refused.
        """
        waiting = asyncio.ensure_future(self._notices.next(method, params))
        until: set[asyncio.Future[Any]] = {waiting} if during is None else {waiting, during.over}
        await asyncio.wait(until, timeout=self.patience, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        if during is None or not during.over.done():
            self.mark(NOT_HEARD, method=method, params=params, waited=self.patience)
        return None

    def expect(self, method: str, request_id: Any) -> Pending:
        """Wait for the answer to a request that the scenario sends as bytes of its own."""
        pending = Pending(method, request_id)
        self._pending.append(pending)
        return pending

    async def batch(self, *messages: dict[str, Any]) -> None:
        """Send messages as one batch and wait until its requests are answered, one by one or as a whole.

        Raises:
            NoAnswer: to one of them, in time.
        """
        requests = [self.expect(one["method"], one["id"]) for one in messages if "id" in one]
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
        """Wait no longer for these answers: what comes and names nothing is for others."""
        self._pending = [one for one in self._pending if one not in expected]

    async def sentinel(self) -> Reply:
        """A request that any server answers: once it has, all that was due before it has been sent."""
        self._sentinels += 1
        method = "ping" if "ping" in self.revision.requests else "server/discover"
        return await self.request(method, request_id=f"{SENTINEL}{self.name}-{self._sentinels}")

    @contextlib.asynccontextmanager
    async def probe(self, name: str, **info: Any) -> AsyncIterator[None]:
        """Name an attempt for checks (`trace.probes`). It ends after an answered sentinel."""
        begin = self.mark(PROBE, name=name, **info)
        yield
        await self.sentinel()
        self.mark(PROBED, name=name, begin=begin.n)

    async def greet(self) -> Reply | None:
        """Open the conversation as its revision does; none where there is nothing to open."""
        if self.revision.opening is Opening.PER_REQUEST:
            return None
        reply = await self.initialize()
        await self.notify("notifications/initialized")
        return reply

    async def initialize(self, **changed: Any) -> Reply:
        """Send `initialize`, with parameters changed or, where None, left out."""
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
        """Every item of a paginated list."""
        items: list[Any] = []
        params: dict[str, Any] = {}
        for _ in range(PAGES):
            reply = await self.request(method, params)
            found = reply.result.get(key)
            items += found if isinstance(found, list) else []
            cursor = reply.result.get("nextCursor")
            if not isinstance(cursor, str):
                break
            params = {"cursor": cursor}
        return items

    async def call(self, tool: Mapping[str, Any], arguments: dict[str, Any], **options: Any) -> Reply:
        """Call a tool by its definition, with the headers that this revision wants for its arguments."""
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
    """A refusal without the id of a sentinel is about something that was sent before it, as malformed bytes
    are; the sentinel must still be waited for, or what is on its way is cut off."""
    is_sentinel = isinstance(pending.id, str) and pending.id.startswith(SENTINEL)
    return not (is_sentinel and "error" in message.fields)


def _given(params: Any) -> dict[str, Any]:
    return {} if params is None else {"params": params}
