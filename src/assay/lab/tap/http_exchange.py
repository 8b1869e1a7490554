"""The HTTP requests and responses of one connection of a client, recorded as they pass.

It only reads: whatever it makes of the bytes, they have been or will be forwarded as they are.
"""

from __future__ import annotations

import zlib
from collections import deque
from typing import Any, Final

from assay.lab.harness.links.split import Blocks
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import events_of

from .conversation import Conversation
from .grouping import SESSION, Grouping, Link
from .http_stream import Body, HeadFields, HttpStream, Unreadable
from .websocket import WebSocketStream

MOST_WAITING: Final = 100
"""Requests on one connection without a response: clients hardly ever send a second one."""
_EVENT_STREAM: Final = b"text/event-stream"
_CODINGS: Final = {b"gzip": 31, b"x-gzip": 31, b"deflate": 47}
"""Arguments of zlib."""
_EMPTY: Final = (204, 304)


class Exchange:
    """One request with its response."""

    def __init__(self, head: HeadFields) -> None:
        self.head = head
        self.method = head.words[0].decode("latin-1")
        self.body = bytearray()
        self.size = 0
        self.conversation: Conversation | None = None
        self.channel = ""
        self.is_recorded = False
        self.answer: HeadFields | None = None
        self.answer_body = bytearray()
        self.answer_size = 0
        self.blocks: Blocks | None = None
        self.decoder: Any = None
        self.unread = ""
        """Why the body of the response is not recorded."""

    def record(self, sender: Sender, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        if self.conversation is not None:
            self.conversation.record(sender, self.channel, kind, raw, **info)

    def gap(self, sender: Sender, reason: str) -> None:
        if self.conversation is not None:
            self.conversation.gap(sender, self.channel, reason)


class _Requests:
    """Takes what the client sends."""

    def __init__(self, owner: HttpExchanges) -> None:
        self._owner = owner
        self._current: Exchange | None = None

    def on_head(self, fields: HeadFields) -> int | Body | None:
        self._current = self._owner.begin(fields)
        length = fields.length
        return Body.NONE if length == -1 else length

    def on_body(self, data: bytes) -> None:
        exchange = self._current
        assert exchange is not None
        exchange.size += len(data)
        if exchange.size <= self._owner.largest:
            exchange.body += data

    def on_end(self) -> None:
        assert self._current is not None
        self._owner.sent(self._current)
        self._current = None

    def on_rest(self, data: bytes) -> None:
        """Requests never switch alone."""

    def on_unreadable(self, problem: str) -> None:
        self._owner.unreadable(Sender.DRIVER, problem, self._current)


class _Responses:
    """Takes what the server sends."""

    def __init__(self, owner: HttpExchanges) -> None:
        self._owner = owner
        self._current: Exchange | None = None
        self._interim = False

    def on_head(self, fields: HeadFields) -> int | Body | None:
        status = fields.status
        if 100 <= status < 200 and status != 101:
            self._interim = True
            return Body.NONE
        exchange = self._current = self._owner.answered(fields)
        if status == 101:
            self._owner.switched(exchange)
            return Body.OTHER_PROTOCOL
        if exchange.method == "HEAD" or status in _EMPTY:
            return Body.NONE
        length = fields.length
        return Body.UNTIL_CLOSE if length == -1 else length

    def on_body(self, data: bytes) -> None:
        assert self._current is not None
        self._owner.received(self._current, data)

    def on_end(self) -> None:
        if self._interim:
            self._interim = False
            return
        assert self._current is not None
        self._owner.ended(self._current)
        self._current = None

    def on_rest(self, data: bytes) -> None:
        self._owner.other_protocol(Sender.SUBJECT, data)

    def on_unreadable(self, problem: str) -> None:
        self._owner.unreadable(Sender.SUBJECT, problem, self._current)


class HttpExchanges:
    def __init__(self, grouping: Grouping, host: str, largest: int) -> None:
        self.largest = largest
        self._grouping = grouping
        self._link = Link(host)
        self._waiting: deque[Exchange] = deque()
        self._requests = HttpStream(_Requests(self))
        self._responses = HttpStream(_Responses(self))
        self._websocket: dict[Sender, WebSocketStream] = {}
        self._is_switched = False
        self._client_ended = False
        self._touched: set[Conversation] = set()
        self.problem = ""
        """Why nothing more of this connection is recorded."""

    def from_client(self, data: bytes) -> None:
        if self._is_switched:
            self.other_protocol(Sender.DRIVER, data)
        else:
            self._requests.feed(data)
        self._flush()

    def from_server(self, data: bytes) -> None:
        self._responses.feed(data)
        self._flush()

    def client_ended(self) -> None:
        """The client sends nothing more; it may still read."""
        self._client_ended = True

    def client_left(self, problem: str = "") -> None:
        """The client closed its connection."""
        if self._is_switched:
            self._end_websocket(Sender.DRIVER, clean=not problem)
        for exchange in self._waiting:
            self._complete(exchange)
            exchange.record(Sender.DRIVER, Kind.END, clean=False)
        self._waiting.clear()
        self._responses.stop()
        self._grouping.leave(self._link)
        self._flush()

    def server_left(self, problem: str = "") -> None:
        """The server closed its connection, or could not be reached."""
        if self._is_switched:
            self._end_websocket(Sender.SUBJECT, clean=not problem)
        elif not self._responses.end() or self._waiting:
            for exchange in self._waiting:
                self._complete(exchange)
                self._record_body(exchange)
                if self._client_ended:  # most servers take that for the end of the client
                    exchange.record(Sender.DRIVER, Kind.END, clean=False)
                else:
                    text = problem or "the connection ended inside of a response"
                    exchange.record(Sender.SUBJECT, Kind.END, clean=False, problem=text)
            self._waiting.clear()
        self._responses.stop()
        self._flush()

    # What the streams report.

    def begin(self, fields: HeadFields) -> Exchange:
        if len(self._waiting) >= MOST_WAITING:
            raise Unreadable(f"more than {MOST_WAITING} requests wait for a response")
        exchange = Exchange(fields)
        self._waiting.append(exchange)
        return exchange

    def sent(self, exchange: Exchange) -> None:
        """The request is complete."""
        if exchange.is_recorded:
            return
        exchange.is_recorded = True
        raw = exchange.head.raw + bytes(exchange.body)
        conversation = exchange.conversation = self._grouping.conversation(self._link, exchange.head, raw)
        if conversation is None:
            return
        conversation.channels += 1
        name = exchange.method.lower() if exchange.method.isalpha() and len(exchange.method) < 20 else "odd"
        if exchange.head.get(b"upgrade").lower() == b"websocket":
            name = "ws"
        exchange.channel = f"1/{name}" if name == "ws" else f"1/{name}-{conversation.channels}"
        place = {"at": "1"} if self._grouping.is_elsewhere(exchange.head) else {}
        if exchange.size > self.largest:
            exchange.gap(Sender.DRIVER, f"a request: it has {exchange.size} bytes")
        else:
            exchange.record(Sender.DRIVER, Kind.REQUEST, raw, **place)
        self._touched.add(conversation)

    def _complete(self, exchange: Exchange) -> None:
        """Record a request that is answered, or broke off, before it was complete."""
        if not exchange.is_recorded:
            self.sent(exchange)
            exchange.gap(Sender.DRIVER, "the end of a request")

    def answered(self, fields: HeadFields) -> Exchange:
        if not self._waiting:
            raise Unreadable("a response to no request")
        exchange = self._waiting[0]
        self._complete(exchange)
        exchange.answer = fields
        exchange.record(Sender.SUBJECT, Kind.HEAD, fields.raw)
        conversation = exchange.conversation
        if conversation is not None:
            self._touched.add(conversation)
            if fields.status < 300:
                self._grouping.name_session(fields.get(SESSION), conversation)
        coding = fields.get(b"content-encoding").lower()
        if coding in _CODINGS:
            exchange.decoder = zlib.decompressobj(_CODINGS[coding])
        elif coding and coding != b"identity":
            exchange.unread = f"the body of a response: its coding is {coding[:40].decode('latin-1')}"
        if fields.media_type == _EVENT_STREAM:
            exchange.blocks = Blocks()
        return exchange

    def received(self, exchange: Exchange, data: bytes) -> None:
        if exchange.unread:
            return
        if exchange.decoder is not None:
            data = self._decoded(exchange, data)
        if exchange.blocks is not None:
            self._take_events(exchange, data)
            return
        exchange.answer_size += len(data)
        if exchange.answer_size > self.largest:
            exchange.unread = f"the body of a response: it has more than {self.largest} bytes"
            exchange.answer_body = bytearray()
        else:
            exchange.answer_body += data

    def _decoded(self, exchange: Exchange, data: bytes) -> bytes:
        try:
            decoded: bytes = exchange.decoder.decompress(data, self.largest + 1)
        except zlib.error:
            exchange.unread = "the body of a response: its coding is broken"
            return b""
        if exchange.decoder.unconsumed_tail:
            exchange.unread = f"the body of a response: it unpacks to more than {self.largest} bytes"
        return decoded

    def _take_events(self, exchange: Exchange, data: bytes) -> None:
        assert exchange.blocks is not None
        for block in exchange.blocks.feed(data):
            exchange.record(Sender.SUBJECT, Kind.EVENT, block)
            if exchange.method == "GET" and b"endpoint" in block[:200] and exchange.conversation is not None:
                self._name_target(block, exchange.conversation)
        if len(exchange.blocks) > self.largest:
            exchange.unread = f"an event: it has more than {self.largest} bytes"
            exchange.blocks = Blocks()
        if exchange.conversation is not None:
            self._touched.add(exchange.conversation)

    def _name_target(self, block: bytes, conversation: Conversation) -> None:
        for event in events_of(Frame(0, 0.0, Sender.SUBJECT, "1/get-1", Kind.EVENT, block)):
            if event.event == "endpoint":
                self._grouping.name_target(event.data.strip(), conversation)

    def ended(self, exchange: Exchange) -> None:
        """The response is complete."""
        self._waiting.popleft()
        self._record_body(exchange)
        exchange.record(Sender.SUBJECT, Kind.END, clean=True)
        if exchange.conversation is not None:
            self._touched.add(exchange.conversation)

    def _record_body(self, exchange: Exchange) -> None:
        if exchange.unread:
            exchange.gap(Sender.SUBJECT, exchange.unread)
        elif exchange.blocks is not None and len(exchange.blocks):
            exchange.record(Sender.SUBJECT, Kind.EVENT, exchange.blocks.rest)
        elif exchange.answer_body:
            exchange.record(Sender.SUBJECT, Kind.BODY, bytes(exchange.answer_body))
        exchange.answer_body = bytearray()

    def switched(self, exchange: Exchange) -> None:
        """Both sides speak another protocol from here on."""
        self._waiting.popleft()
        self._is_switched = True
        self._requests.stop()
        if exchange.head.get(b"upgrade").lower() != b"websocket":
            exchange.gap(Sender.SUBJECT, "everything after the switch to another protocol")
            return
        for sender in Sender:
            stream = WebSocketStream(exchange.conversation, sender, exchange.channel, self.largest)
            self._websocket[sender] = stream

    def other_protocol(self, sender: Sender, data: bytes) -> None:
        stream = self._websocket.get(sender)
        if stream is not None:
            stream.feed(data)
            if self._link.conversation is not None:
                self._touched.add(self._link.conversation)

    def _end_websocket(self, sender: Sender, *, clean: bool) -> None:
        stream = self._websocket.pop(sender, None)
        if stream is not None:
            stream.end(clean=clean)
            if self._link.conversation is not None:
                self._touched.add(self._link.conversation)

    def unreadable(self, sender: Sender, problem: str, exchange: Exchange | None) -> None:
        self.problem = f"{'request' if sender is Sender.DRIVER else 'response'}: {problem}"
        self._requests.stop()
        self._responses.stop()
        for waiting in {*self._waiting, *([exchange] if exchange is not None else [])}:
            self._complete(waiting)
            waiting.gap(sender, f"nothing more of this connection: {problem}")
        self._waiting.clear()
        if self._link.conversation is not None:
            self._touched.add(self._link.conversation)

    def _flush(self) -> None:
        for conversation in self._touched:
            conversation.flush()
        self._touched.clear()
