"""A recording as a mock server: requests that are in the recording get the recorded answers."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from json import dumps
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.driver.peer import encode
from assay.lab.harness.golden.lane import is_sentinel
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call, Exchange, Trace
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

MOST_UNKNOWN: Final = 1000
LOOSE: Final = frozenset({"initialize", "ping", "server/discover"})
"""Methods whose parameters describe the client, and need not be those of the recording."""
Send = Callable[[dict[str, Any] | None, bytes], Awaitable[None]]
"""Sends a message. If it was recorded on an event stream, with the block that carried it; an event without a
message is only a block."""
LISTEN, ANSWER = "GET", "an answer"
"""HTTP requests without a method of the protocol."""


class RecordedReply(Struct, frozen=True):
    request: Message
    parts: tuple[tuple[Message | None, bytes], ...]
    """What the server sent for it: notifications and questions, then the answer. On an event stream, each
    with its block."""
    head: Head | None
    """Of the HTTP response, if it was recorded on HTTP."""


class Script:
    """The exchanges of one conversation. A request that is sent more often than in the recording gets the
    last answer again."""

    def __init__(self, trace: Trace) -> None:
        self.revision = trace.header.revision
        self._replies: dict[str, list[RecordedReply]] = defaultdict(list)
        self._uses: dict[str, int] = defaultdict(int)
        for exchange in trace.all_exchanges:
            if exchange.answer is not None and not is_sentinel(exchange.request):
                reply = RecordedReply(exchange.request, _parts(trace, exchange), exchange.head)
                self._replies[_key(exchange.method, exchange.params)].append(reply)
        self.methods = {exchange.method for exchange in trace.all_exchanges}
        self.calls: dict[str, Call] = {}
        """HTTP requests that are not answered with a message: streams, notifications and answers."""
        for call in trace.calls:
            self.calls.setdefault(_kind(call), call)

    def reply(self, method: str, params: Any) -> RecordedReply | None:
        key = _key(method, params if isinstance(params, dict) else {})
        replies = self._replies.get(key)
        if replies is None:
            return None
        place = min(self._uses[key], len(replies) - 1)
        self._uses[key] += 1
        return replies[place]


def _kind(call: Call) -> str:
    messages = call.request_messages
    if not messages:
        return call.sent.method
    return ANSWER if messages[0].is_response else messages[0].method


def _parts(trace: Trace, exchange: Exchange) -> tuple[tuple[Message | None, bytes], ...]:
    """From the request to its answer, without answers to other requests."""
    request, answer = exchange.request, exchange.answer
    assert answer is not None
    between = {
        message.frame.n: message
        for message in trace.received
        if request.frame.n < message.frame.n < answer.frame.n
        and message.frame.channel == answer.frame.channel
        and not message.is_response
    }
    if answer.frame.kind is not Kind.EVENT or answer.frame.channel != request.frame.channel:
        return (*((message, b"") for message in between.values()), (answer, b""))
    carried = {**between, answer.frame.n: answer}
    events = (
        frame
        for frame in trace.frames
        if frame.channel == answer.frame.channel and frame.kind is Kind.EVENT and frame.n <= answer.frame.n
    )
    return tuple((carried.get(frame.n), frame.raw) for frame in events)


def _key(method: str, params: dict[str, Any]) -> str:
    if method in LOOSE:
        return method
    plain = {key: value for key, value in params.items() if key != "_meta"}
    return f"{method} {dumps(plain, sort_keys=True)}"


class MockServer:
    """Answers the requests of a client from the scripts of a bundle, whatever carries the messages."""

    def __init__(self, traces: Iterable[Trace], timeout: float = 60.0) -> None:
        self._scripts = [Script(trace) for trace in traces]
        self._current = self._scripts[-1]
        self._timeout = timeout
        self._questions: dict[str, asyncio.Future[None]] = {}
        self.served = 0
        """Requests that were answered from the recording."""
        self.unknown: list[str] = []
        """Requests that the recording does not have."""

    def recorded(self, message: dict[str, Any]) -> RecordedReply | None:
        """The recorded reply to a request; None, and noted as unknown, if there is none."""
        method, params = str(message.get("method")), message.get("params")
        self._choose(method, params if isinstance(params, dict) else {})
        reply = self._current.reply(method, params)
        if reply is not None:
            self.served += 1
        elif method != "ping" and len(self.unknown) < MOST_UNKNOWN:
            self.unknown.append(f"{method} {dumps(params)[:200]}" if params else method)
        return reply

    def _choose(self, method: str, params: dict[str, Any]) -> None:
        """Use the conversation of the client's revision, if the bundle has one."""
        meta = params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        version = params.get("protocolVersion") if method == "initialize" else version
        chosen = [script for script in self._scripts if script.revision == version]
        if chosen:
            self._current = chosen[0]

    def take_answer(self, message: dict[str, Any]) -> None:
        """The client answered a question."""
        question = self._questions.pop(dumps(message.get("id")), None)
        if question is not None and not question.done():
            question.set_result(None)

    async def play(self, message: dict[str, Any], reply: RecordedReply | None, send: Send) -> None:
        """Send the messages of a reply. After a question, wait for the client's answer, whatever it is."""
        if reply is None:
            return await send(self._refusal(message), b"")
        for recorded, block in reply.parts:
            fields = None if recorded is None else _renumbered(recorded, reply.request, message)
            if recorded is None:
                await send(None, block)
            elif fields is not None:
                await self._send(fields, _renewed(block, recorded, fields), send)

    async def _send(self, fields: dict[str, Any], block: bytes, send: Send) -> None:
        if "method" not in fields or "id" not in fields:
            return await send(fields, block)
        answered = asyncio.get_running_loop().create_future()
        self._questions[dumps(fields["id"])] = answered
        await send(fields, block)
        await asyncio.wait({answered}, timeout=self._timeout)

    def call(self, kind: str) -> Call | None:
        """The recorded HTTP request of a kind, to answer one like it."""
        return self._current.calls.get(kind)

    def _refusal(self, message: dict[str, Any]) -> dict[str, Any]:
        method = str(message.get("method"))
        if method == "ping":
            return {"jsonrpc": "2.0", "id": message.get("id"), "result": {}}
        known = method in self._current.methods
        text = f"the recording has no {method} {'with these parameters' if known else 'request'}"
        error = {"code": INVALID_PARAMS if known else METHOD_NOT_FOUND, "message": text}
        return {"jsonrpc": "2.0", "id": message.get("id"), "error": error}


def _renumbered(recorded: Message, request: Message, current: dict[str, Any]) -> dict[str, Any] | None:
    """A recorded message with the id and token of the current request; None if that asks for no progress."""
    fields = dict(recorded.fields)
    if recorded.is_response:
        return {**fields, "id": current.get("id")}
    if recorded.method != "notifications/progress":
        return fields
    params = current.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    same = recorded.params.get("progressToken") == request.meta.get("progressToken")
    return (
        {**fields, "params": {**recorded.params, "progressToken": token}}
        if same and token is not None
        else None
    )


def _renewed(block: bytes, recorded: Message, fields: dict[str, Any]) -> bytes:
    """The recorded block with this message."""
    if not block or fields == recorded.fields:
        return block
    lines = block.split(b"\n")
    places = [place for place, line in enumerate(lines) if line.startswith(b"data:")]
    data = b"data: " + encode(fields)
    return b"\n".join(
        data if place == places[0] else line for place, line in enumerate(lines) if place not in places[1:]
    )
