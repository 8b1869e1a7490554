"""A trace as checks see it: frames in order, and what they mean together.

A check gets nothing else. All that the driver knew or hoped is left out; where its intention matters, it put
a mark among the frames.
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
"""How the ids of requests begin that are only sent to see that all before them is done."""
PROBE: Final = "probe"
PROBED: Final = "probed"
STILL_OPEN: Final = "still open"
"""A response that the subject did not end while the driver waited for that."""
NOT_HEARD: Final = "not heard"
"""The mark of a notification that the driver waited for in vain."""


class Exchange(Struct, frozen=True):
    """A request of one side with every answer that the other gave to it."""

    request: Message
    answers: tuple[Message, ...]
    head: Head | None = None
    """Of the HTTP response that belongs to it."""

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
    def result(self) -> dict[str, Any] | None:
        """The result object; none where there was no answer or an error."""
        return self.answer.result if self.answer is not None and "result" in self.answer.fields else None

    @property
    def code(self) -> Any:
        return None if self.answer is None else self.answer.code

    def items(self, key: str) -> list[Any]:
        """A list in the result, whatever its members are; empty where there is none."""
        found = (self.result or {}).get(key)
        return found if isinstance(found, list) else []

    def objects(self, key: str) -> list[dict[str, Any]]:
        """The members of that list that are objects."""
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
    """On this response."""
    asked: tuple[Message, ...]
    """In this request."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.request, *self.received)

    @property
    def status(self) -> int:
        return 0 if self.head is None else self.head.status

    @property
    def session(self) -> str | None:
        """Which session the request named."""
        return self.sent.get("mcp-session-id")

    @property
    def resumes(self) -> str | None:
        """After which event it wanted a stream to go on."""
        return self.sent.get("last-event-id")

    @property
    def is_stream(self) -> bool:
        return self.head is not None and self.status == 200 and self.head.media_type == EVENT_STREAM

    @property
    def is_over(self) -> bool:
        """Whether whoever answers ended the response."""
        return any(frame.kind is Kind.END for frame in self.received)

    @property
    def code(self) -> Any:
        """Of the error in the response; none where there is none."""
        return next((one.code for one in self.messages if "error" in one.fields), None)

    @property
    def body(self) -> bytes:
        return b"".join(frame.raw for frame in self.received if frame.kind in (Kind.BODY, Kind.EVENT))

    @property
    def events(self) -> tuple[tuple[Frame, SseEvent], ...]:
        blocks = (frame for frame in self.received if frame.kind is Kind.EVENT)
        return tuple((frame, event) for frame in blocks for event in events_of(frame))


class Probe(Struct, frozen=True):
    """What passed between the marks that a scenario put around one attempt, the sentinel left out."""

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
        """Every message of both sides, in the order of the frames that complete them."""
        return tuple(_messages(self.frames))

    @cached_property
    def received(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.by_subject)

    @cached_property
    def was_visited(self) -> bool:
        """Whether the subject, where it is a client, ever came."""
        return any(one.sender is Sender.SUBJECT and one.kind is not Kind.EXIT for one in self.frames)

    @cached_property
    def spoken(self) -> tuple[Message, ...]:
        """What the subject said as JSON-RPC. On HTTP a body is that by its status, or by its own word."""
        return tuple(one for one in self.received if "jsonrpc" in one.fields or self.status_of(one) <= 200)

    @cached_property
    def _statuses(self) -> dict[str, int]:
        return {call.channel: call.status for call in self.calls}

    def status_of(self, message: Message) -> int:
        """Of the HTTP response that it came on; 0 where there is none."""
        return self._statuses.get(message.frame.channel, 0)

    @cached_property
    def all_exchanges(self) -> tuple[Exchange, ...]:
        return tuple(_exchanges(self, by_subject=False))

    @cached_property
    def all_inquiries(self) -> tuple[Exchange, ...]:
        return tuple(_exchanges(self, by_subject=True))

    def inquiries(self, *methods: str) -> Iterator[Exchange]:
        """The subject's requests of these methods, or all, with the driver's answers: what clients ask."""
        return (one for one in self.all_inquiries if not methods or one.method in methods)

    def exchanges(self, *methods: str) -> Iterator[Exchange]:
        """The driver's requests of these methods, or all; sentinels are requests like any other."""
        return (one for one in self.all_exchanges if not methods or one.method in methods)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every HTTP request, in order."""
        return tuple(_calls(self))

    @cached_property
    def strays(self) -> tuple[Message, ...]:
        """Responses of the subject that answer no request of the driver."""
        taken = {id(answer) for exchange in self.all_exchanges for answer in exchange.answers}
        return tuple(one for one in self.received if one.is_response and id(one) not in taken)

    @cached_property
    def left_open(self) -> frozenset[str]:
        """Channels whose response the subject did not end in time."""
        return frozenset(one.channel for one in self.marks(STILL_OPEN))

    def marks(self, label: str) -> Iterator[Frame]:
        return (one for one in self.frames if one.kind is Kind.MARK and one.info.get("label") == label)

    def probes(self, *labels: str) -> Iterator[Probe]:
        """The attempts that the scenario named so and finished: one that broke off proves nothing."""
        for begin in self.marks(PROBE):
            name = begin.info.get("name")
            end = next((one for one in self.marks(PROBED) if one.info.get("begin") == begin.n), None)
            if end is not None and isinstance(name, str) and (not labels or name in labels):
                yield self._probe(name, begin, end)

    def _probe(self, name: str, begin: Frame, end: Frame) -> Probe:
        inside = tuple(
            one
            for one in self.frames[begin.n + 1 : end.n]
            if one.connection == begin.connection and one.kind is not Kind.MARK
        )
        numbers = {frame.n for frame in inside}
        messages = [one for one in self.messages if one.frame.n in numbers and not _is_sentinel(one)]
        sent = tuple(one for one in messages if not one.by_subject)
        received = tuple(one for one in messages if one.by_subject)
        return Probe(name, begin.info, inside, sent, received)


def _is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def events_of(frame: Frame) -> list[SseEvent]:
    """What a block of an event stream dispatches: one event, or none for comments and bare ids."""
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
    """Whether a request is for what is told beside the protocol, or goes to another address."""
    return "at" in frame.info or b" /.well-known/" in frame.raw.partition(CRLF)[0]


def _exchanges(trace: Trace, *, by_subject: bool) -> Iterator[Exchange]:
    heads = {one.channel: parse_head(one.raw) for one in trace.frames if one.kind is Kind.HEAD}
    answers: dict[int, list[Message]] = {}
    requests: list[Message] = []
    by_id: dict[Hashable, list[Message]] = defaultdict(list)
    for message in trace.messages:
        mine = message.by_subject is by_subject
        if mine and "id" in message.fields and message.method:
            requests.append(message)
            by_id[id_group(message.id)].append(message)
            answers[id(message)] = []
        elif not mine and message.is_response:
            asked = _asked(message, by_id[id_group(message.id)], answers)
            if asked is not None:
                answers[id(asked)].append(message)
    for request in requests:
        on_http = request.frame.kind is Kind.REQUEST
        head = heads.get(request.frame.channel) if on_http else None
        yield Exchange(request, tuple(answers[id(request)]), head)


def _asked(reply: Message, requests: list[Message], answers: dict[int, list[Message]]) -> Message | None:
    """The request that a reply answers: the oldest open one with its id, else the last with it."""
    fits = [one for one in requests if same_id(one.id, reply.id) and _may_answer(reply.frame, one.frame)]
    waiting = [one for one in fits if not answers[id(one)]]
    return waiting[0] if waiting else fits[-1] if fits else None


def _may_answer(reply: Frame, request: Frame) -> bool:
    """On HTTP a reply belongs on the response to its request, or on a stream opened to resume that one."""
    if reply.connection != request.connection:
        return False
    return request.kind is not Kind.REQUEST or reply.channel == request.channel or "/get-" in reply.channel


def _calls(trace: Trace) -> Iterator[Call]:
    frames: dict[str, list[Frame]] = defaultdict(list)
    messages: dict[str, list[Message]] = defaultdict(list)
    for frame in trace.frames:
        frames[frame.channel].append(frame)
    for message in trace.messages:
        messages[message.frame.channel].append(message)
    for request in (one for one in trace.frames if one.kind is Kind.REQUEST):
        inside = frames[request.channel]
        head = next((parse_head(one.raw) for one in inside if one.kind is Kind.HEAD), None)
        yield Call(
            channel=request.channel,
            request=request,
            sent=parse_head(request.raw),
            head=head,
            received=tuple(one for one in inside if one.sender is not request.sender),
            messages=tuple(
                one for one in messages[request.channel] if one.frame.sender is not request.sender
            ),
            asked=tuple(one for one in messages[request.channel] if one.frame.sender is request.sender),
        )
