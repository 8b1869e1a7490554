"""A trace as checks see it: frames in order, grouped into messages, exchanges, HTTP calls and probes.

A trace is the only input of a check. Where the driver's intention matters, the driver records it as a mark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.links.http_text import CRLF, EVENT_STREAM, Head, body_of, parse_head
from assay.protocol.framing.sse import SseEvent, SseParser
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .frame import Frame, Header, Kind, Sender
from .message import Message, id_group, read_messages, same_id

SENTINEL: Final = "sentinel-"
"""Id prefix of requests that the driver only sends to learn that earlier messages have been processed."""
PROBE: Final = "probe"
PROBED: Final = "probed"
STILL_OPEN: Final = "still open"
"""Mark of a response that the subject did not end while the driver waited."""
NOT_RECEIVED: Final = "not heard"
"""Mark of a notification that did not arrive while the driver waited."""


class Exchange(Struct, frozen=True):
    """A request of one side with all answers of the other."""

    request: Message
    answers: tuple[Message, ...]
    head: Head | None = None
    """Head of the HTTP response to the request."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.request.frame, *(answer.frame for answer in self.answers))

    @property
    def answer(self) -> Message | None:
        return self.answers[0] if self.answers else None

    @property
    def method(self) -> str:
        return self.request.method

    @property
    def params(self) -> dict[str, Any]:
        return self.request.params

    @property
    def meta(self) -> dict[str, Any]:
        return self.request.meta

    @property
    def in_session(self) -> bool:
        """Whether a server can relate it to other requests: on HTTP, only by a session."""
        frame = self.request.frame
        return frame.kind is not Kind.REQUEST or parse_head(frame.raw).get("mcp-session-id") is not None

    @property
    def result(self) -> dict[str, Any] | None:
        """The result object; None without an answer or on an error."""
        return self.answer.result if self.answer is not None and "result" in self.answer.fields else None

    @property
    def code(self) -> Any:
        return None if self.answer is None else self.answer.code

    def items(self, key: str) -> list[Any]:
        """A list in the result, with members of any type; empty if it is missing."""
        value = (self.result or {}).get(key)
        return value if isinstance(value, list) else []

    def objects(self, key: str) -> list[dict[str, Any]]:
        """The members of `items(key)` that are objects."""
        return [item for item in self.items(key) if isinstance(item, dict)]

    def __str__(self) -> str:
        status = "" if self.head is None else f", HTTP {self.head.status}"
        return f"{self.answer or 'no answer'}{status}"


class Call(Struct, frozen=True):
    """An HTTP request with its response."""

    channel: str
    request: Frame
    sent: Head
    head: Head | None
    received: tuple[Frame, ...]
    messages: tuple[Message, ...]
    """Messages in the response."""
    request_messages: tuple[Message, ...]
    """Messages in the request."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.request, *self.received)

    @property
    def status(self) -> int:
        return 0 if self.head is None else self.head.status

    @property
    def session(self) -> str | None:
        """The session id in the request."""
        return self.sent.get("mcp-session-id")

    @property
    def resumes(self) -> str | None:
        """The event id after which the request resumes a stream."""
        return self.sent.get("last-event-id")

    @property
    def is_stream(self) -> bool:
        return self.head is not None and self.status == 200 and self.head.media_type == EVENT_STREAM

    @property
    def is_over(self) -> bool:
        """Whether the response was ended by its sender."""
        return any(frame.kind is Kind.END for frame in self.received)

    @property
    def code(self) -> Any:
        """Code of the error in the response; None without an error."""
        return next((message.code for message in self.messages if "error" in message.fields), None)

    @property
    def body(self) -> bytes:
        return b"".join(frame.raw for frame in self.received if frame.kind in (Kind.BODY, Kind.EVENT))

    @property
    def events(self) -> tuple[tuple[Frame, SseEvent], ...]:
        blocks = (frame for frame in self.received if frame.kind is Kind.EVENT)
        return tuple((frame, event) for frame in blocks for event in events_of(frame))


class Probe(Struct, frozen=True):
    """The traffic between the marks that a scenario put around an attempt, without sentinels."""

    label: str
    info: dict[str, Any]
    inside: tuple[Frame, ...]
    sent: tuple[Message, ...]
    received: tuple[Message, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.inside

    @property
    def answers(self) -> tuple[Message, ...]:
        return tuple(message for message in self.received if message.is_response)


class Trace:
    def __init__(self, header: Header, frames: Sequence[Frame]) -> None:
        self.header = header
        self.frames = tuple(frames)

    @property
    def revision(self) -> Revision:
        return BY_DATE[self.header.revision]

    @property
    def transport(self) -> str:
        return self.header.transport

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Messages of both sides, in the order of the frames that complete them."""
        return tuple(_messages(self.frames))

    @cached_property
    def received(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.by_subject)

    @cached_property
    def client_connected(self) -> bool:
        """Whether the subject, a client, connected at all."""
        return any(frame.sender is Sender.SUBJECT and frame.kind is not Kind.EXIT for frame in self.frames)

    @cached_property
    def rpc_messages(self) -> tuple[Message, ...]:
        """JSON-RPC messages of the subject. An HTTP body counts if its status is 200 or it has `jsonrpc`."""
        return tuple(
            message
            for message in self.received
            if "jsonrpc" in message.fields or self.status_of(message) <= 200
        )

    @cached_property
    def _statuses(self) -> dict[str, int]:
        return {call.channel: call.status for call in self.calls}

    def status_of(self, message: Message) -> int:
        """Status of the HTTP response that carried the message; 0 if none did."""
        return self._statuses.get(message.frame.channel, 0)

    @cached_property
    def all_exchanges(self) -> tuple[Exchange, ...]:
        return tuple(_exchanges(self, by_subject=False))

    @cached_property
    def all_subject_exchanges(self) -> tuple[Exchange, ...]:
        return tuple(_exchanges(self, by_subject=True))

    def subject_exchanges(self, *methods: str) -> Iterator[Exchange]:
        """The subject's requests of these methods, or all, with the driver's answers."""
        return (
            exchange for exchange in self.all_subject_exchanges if not methods or exchange.method in methods
        )

    def exchanges(self, *methods: str) -> Iterator[Exchange]:
        """The driver's requests of these methods, or all, sentinels included."""
        if len(methods) == 1:
            return iter(self._by_method.get(methods[0], ()))
        return (exchange for exchange in self.all_exchanges if not methods or exchange.method in methods)

    @cached_property
    def _by_method(self) -> dict[str, list[Exchange]]:
        by_method: dict[str, list[Exchange]] = defaultdict(list)
        for exchange in self.all_exchanges:
            by_method[exchange.method].append(exchange)
        return by_method

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """HTTP requests in order."""
        return tuple(_calls(self))

    @cached_property
    def strays(self) -> tuple[Message, ...]:
        """Responses of the subject that answer no request of the driver."""
        answers = {id(answer) for exchange in self.all_exchanges for answer in exchange.answers}
        return tuple(reply for reply in self.received if reply.is_response and id(reply) not in answers)

    @cached_property
    def left_open(self) -> frozenset[str]:
        """Channels whose response the subject did not end in time."""
        return frozenset(mark.channel for mark in self.marks(STILL_OPEN))

    def marks(self, label: str) -> Iterator[Frame]:
        return iter(self._marks.get(label, ()))

    @cached_property
    def _marks(self) -> dict[str, list[Frame]]:
        marks: dict[str, list[Frame]] = defaultdict(list)
        for frame in self.frames:
            if frame.kind is Kind.MARK and isinstance(label := frame.info.get("label"), str):
                marks[label].append(frame)
        return marks

    def probes(self, *labels: str) -> Iterator[Probe]:
        """The completed attempts with these labels, or all. An attempt that broke off proves nothing."""
        for begin in self.marks(PROBE):
            name = begin.info.get("name")
            end = next((mark for mark in self.marks(PROBED) if mark.info.get("begin") == begin.n), None)
            if end is not None and isinstance(name, str) and (not labels or name in labels):
                yield self._probe(name, begin, end)

    def _probe(self, name: str, begin: Frame, end: Frame) -> Probe:
        inside = tuple(
            frame
            for frame in self.frames[begin.n + 1 : end.n]
            if frame.connection == begin.connection and frame.kind is not Kind.MARK
        )
        numbers = {frame.n for frame in inside}
        messages = [
            message for message in self.messages if message.frame.n in numbers and not _is_sentinel(message)
        ]
        sent = tuple(message for message in messages if not message.by_subject)
        received = tuple(message for message in messages if message.by_subject)
        return Probe(name, begin.info, inside, sent, received)


def _is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def events_of(frame: Frame) -> list[SseEvent]:
    """The event that a block of an event stream dispatches; none for comments and bare ids."""
    return SseParser(len(frame.raw) + 1).feed(frame.raw)


def _messages(frames: Sequence[Frame]) -> Iterator[Message]:
    unfinished: dict[tuple[str, Sender], bytes] = defaultdict(bytes)
    types: dict[str, str] = {}
    documents: set[str] = set()
    for frame in frames:
        match frame.kind:
            case Kind.LINE:
                key = (frame.channel, frame.sender)
                *lines, unfinished[key] = (unfinished[key] + frame.raw).split(b"\n")
                for line in lines:
                    yield from read_messages(frame, line)
            case Kind.HEAD:
                types[frame.channel] = parse_head(frame.raw).media_type
            case Kind.REQUEST if _asks_for_document(frame):
                documents.add(frame.channel)
            case Kind.REQUEST if body := body_of(frame.raw):
                yield from read_messages(frame, body)
            case Kind.BODY if "json" in types.get(frame.channel, "") and frame.channel not in documents:
                yield from read_messages(frame, frame.raw)
            case Kind.EVENT:
                for event in events_of(frame):
                    if event.data and event.event == "message":
                        yield from read_messages(frame, event.data)
            case Kind.TEXT:
                yield from read_messages(frame, frame.raw)


def _asks_for_document(frame: Frame) -> bool:
    """Whether a request is for a well-known document, or to an address other than the endpoint."""
    return "at" in frame.info or b" /.well-known/" in frame.raw.partition(CRLF)[0]


def _exchanges(trace: Trace, *, by_subject: bool) -> Iterator[Exchange]:
    heads = {frame.channel: parse_head(frame.raw) for frame in trace.frames if frame.kind is Kind.HEAD}
    answers: dict[int, list[Message]] = {}
    requests: list[Message] = []
    by_id: dict[Hashable, list[Message]] = defaultdict(list)
    for message in trace.messages:
        is_ours = message.by_subject is by_subject
        if is_ours and "id" in message.fields and message.method:
            requests.append(message)
            by_id[id_group(message.id)].append(message)
            answers[id(message)] = []
        elif not is_ours and message.is_response:
            request = _answered_request(message, by_id[id_group(message.id)], answers)
            if request is not None:
                answers[id(request)].append(message)
    for request in requests:
        on_http = request.frame.kind is Kind.REQUEST
        head = heads.get(request.frame.channel) if on_http else None
        yield Exchange(request, tuple(answers[id(request)]), head)


def _answered_request(
    reply: Message, requests: list[Message], answers: dict[int, list[Message]]
) -> Message | None:
    """The request that a reply answers: the oldest open request with that id, else the latest."""
    candidates = [
        request
        for request in requests
        if same_id(request.id, reply.id) and _may_answer(reply.frame, request.frame)
    ]
    waiting = [request for request in candidates if not answers[id(request)]]
    return waiting[0] if waiting else candidates[-1] if candidates else None


def _may_answer(reply: Frame, request: Frame) -> bool:
    """On HTTP a reply belongs on the response to its request, or on a stream that resumes that response."""
    if reply.connection != request.connection:
        return False
    return request.kind is not Kind.REQUEST or reply.channel == request.channel or reply.is_on_get


def _calls(trace: Trace) -> Iterator[Call]:
    frames: dict[str, list[Frame]] = defaultdict(list)
    messages: dict[str, list[Message]] = defaultdict(list)
    for frame in trace.frames:
        frames[frame.channel].append(frame)
    for message in trace.messages:
        messages[message.frame.channel].append(message)
    for request in (frame for frame in trace.frames if frame.kind is Kind.REQUEST):
        inside = frames[request.channel]
        head = next((parse_head(frame.raw) for frame in inside if frame.kind is Kind.HEAD), None)
        by_requester: dict[bool, list[Message]] = {True: [], False: []}
        for message in messages[request.channel]:
            by_requester[message.frame.sender is request.sender].append(message)
        yield Call(
            channel=request.channel,
            request=request,
            sent=parse_head(request.raw),
            head=head,
            received=tuple(frame for frame in inside if frame.sender is not request.sender),
            messages=tuple(by_requester[False]),
            request_messages=tuple(by_requester[True]),
        )
