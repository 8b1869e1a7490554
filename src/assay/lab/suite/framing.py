"""Framing on stdio: newline-delimited messages, a cancelled request, the end of standard input."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_line,
    on_reply,
    result_reply,
    scenario,
    scripted,
)
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY, declared
from assay.lab.harness.driver.peer import encode
from assay.lab.harness.need import Need
from assay.lab.harness.sabotage.alteration import encode as encode_message
from assay.lab.harness.sabotage.saboteur import Conversation, Saboteur, newest_of_each_kind, params_of
from assay.lab.harness.sabotage.script import serve_minimal
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.revision import Revision

from .envelope import A_MESSAGE_PER_LINE, shown_bytes, unfinished_lines
from .subscription import LISTEN

# --- what is asked


LONG: Final = "a" * (96 * 1024)
"""More than the 64 KiB of a pipe and of many buffers."""
# A newline, which must be escaped in the reply, and characters that some languages treat as line ends.
LINE_ENDS: Final = ("two\nlines", "next\u0085line", "line\u2028separator", "form\x0cfeed", "carriage\rreturn")


@scenario(
    "Send long lines, several lines at once, and parts of a line",
    exercises=(
        "framing.whole-lines",
        "framing.ended-lines",
        "framing.pure-stdout",
        "framing.no-requests",
        "jsonrpc.named-errors",
    ),
    transports=STDIO_ONLY,
)
async def drive_lines(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request("no/such/method", {"padding": LONG})
    for text in LINE_ENDS:
        await peer.request(stage.plain, request_id=text)
    names = ("line 1", "line 2", "line 3")
    requests = [peer.expect(stage.plain, name) for name in names]
    params = declared(stage.revision, {}, {})
    message = {"jsonrpc": "2.0", "method": stage.plain, "params": params}
    first, second, third = (encode({**message, "id": name}) + b"\n" for name in names)
    await peer.stdio.write(first + second)
    await peer.stdio.write(third[:9])
    await peer.stdio.write(third[9:])
    for pending in requests:
        await peer.answer(pending)


FILTERS: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}
A_LIST_CHANGE: Final = Need(
    lambda facts: any(facts.declares(name, "listChanged") for name in FILTERS), "declares no `listChanged`"
)


@scenario(
    "Cancel a subscription",
    exercises=("framing.cancelled-silence",),
    needs=(A_LIST_CHANGE,),
    transports=STDIO_ONLY,
    window=lambda revision: "subscriptions/listen" in revision.requests,
)
async def drive_cancelled(stage: Stage) -> None:
    peer = await stage.open()
    filters = {FILTERS[name]: True for name in FILTERS if stage.facts.declares(name, "listChanged")}
    listening = await peer.start("subscriptions/listen", {"notifications": filters})
    await peer.sentinel()
    await peer.notify("notifications/cancelled", {"requestId": listening.id})
    # Messages that were already on their way may arrive before this reply. Later ones are judged.
    await peer.sentinel()
    async with peer.probe("cancelled", id=listening.id):
        await peer.sentinel()


EXIT_LIMIT: Final = 5.0
"""Seconds that a server has to exit. The specification says "promptly"; clients seldom wait longer."""


@scenario(
    "Close standard input",
    exercises=("framing.pure-stdout", "framing.ends-with-input"),
    transports=STDIO_ONLY,
)
async def drive_shutdown(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    patience = min(EXIT_LIMIT, stage.patience)
    if await peer.stdio.end_input(patience) is None:
        peer.mark("still running", waited=patience)
    await peer.close()


# --- how it is judged


MAX_LINES: Final = 300
"""Lines that are tried as one message."""


@check(
    "A message is one line",
    requirements={"STD-01": "A message contains a newline"},
    everywhere=True,
    transports=STDIO_ONLY,
)
def judge_whole_lines(trace: Trace) -> Iterator[Observation]:
    lines: dict[str, list[Message]] = defaultdict(list)
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            lines[message.frame.channel].append(message)
    for channel in lines.values():
        yield from _judge_lines(channel)


def _judge_lines(lines: Sequence[Message]) -> Iterator[Observation]:
    place = 0
    while place < len(lines):
        count = _lines_of_message(lines[place : place + MAX_LINES])
        parts = lines[place : place + max(count, 1)]
        if count:
            expected, observed = "a message without a newline", f"a message of {count} lines"
            yield observe("STD-01", count == 1, *parts, expected=expected, observed=observed)
        place += len(parts)


def _lines_of_message(lines: Sequence[Message]) -> int:
    """The number of lines of the message that begins here, or 0 if none does."""
    if lines[0].value is not None:
        return 1
    if not lines[0].body.lstrip().startswith((b"{", b"[")):
        return 0
    parts: list[bytes] = []
    for line in lines:
        # A part of a message may be valid JSON, such as `1`; an object is another message.
        if parts and isinstance(line.value, dict):
            break
        parts.append(line.body)
        if len(parts) > 1 and _is_message(b"\n".join(parts)):
            return len(parts)
    return 0


def _is_message(text: bytes) -> bool:
    try:
        # Not strict, because an unescaped newline inside a string is one of the faults.
        return isinstance(json.loads(text, strict=False), dict | list)
    except (ValueError, RecursionError):
        return False


@check(
    "Standard output contains only messages", requirements=("STD-02",), everywhere=True, transports=STDIO_ONLY
)
def judge_pure_stdout(trace: Trace) -> Iterator[Observation]:
    numbers = _line_numbers(trace)
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            is_message = isinstance(message.value, dict)
            problem = message.problem or "not an object"
            observed = f"line {numbers[message.frame.n]}: {shown_bytes(message.body)}: {problem}"
            yield observe("STD-02", is_message, message, expected=A_MESSAGE_PER_LINE, observed=observed)
    yield from unfinished_lines(trace, "STD-02")


def _line_numbers(trace: Trace) -> dict[int, int]:
    """The number of each line in the output of its process, by the number of its frame."""
    counts: Counter[str] = Counter()
    numbers = {}
    for frame in trace.frames:
        if frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT:
            counts[frame.channel] += 1
            numbers[frame.n] = counts[frame.channel]
    return numbers


@check(
    "A message ends with a newline",
    requirements={"STD-01": "A message does not end with a newline"},
    everywhere=True,
    transports=STDIO_ONLY,
)
def judge_ended_lines(trace: Trace) -> Iterator[Observation]:
    numbers = _line_numbers(trace)
    waited = {mark.connection for mark in trace.marks("no answer")}
    for frame in trace.frames:
        if frame.n not in numbers:
            continue
        ended = frame.raw.endswith(b"\n")
        # Without a wait, the newline may still have been on its way.
        if ended or (frame.connection in waited and _begins_with_message(frame.raw)):
            observed = f"line {numbers[frame.n]}: {shown_bytes(frame.raw)}, and no newline"
            yield observe("STD-01", ended, frame, expected="a newline after each message", observed=observed)


def _begins_with_message(text: bytes) -> bool:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


@check("Servers send no requests on stdio", requirements=("STD-07",), everywhere=True, transports=STDIO_ONLY)
def judge_no_requests(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.fields:
            allowed = message.shape is not Shape.REQUEST
            expected = "a response or a notification"
            yield observe("STD-07", allowed, message, expected=expected, observed=message)


@check(
    "No messages follow for a cancelled request",
    requirements=("STD-10",),
    transports=STDIO_ONLY,
    history=True,
)
def judge_cancelled_silence(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("cancelled"):
        late = [message for message in probe.received if _belongs_to(message, probe.info.get("id"))]
        expected = "no message for the cancelled request"
        yield observe("STD-10", not late, probe, expected=expected, observed=late[0] if late else "none")


@check("A cancelled subscription is silent", requirements=("STD-10",), everywhere=True, transports=STDIO_ONLY)
def judge_ended_subscription(trace: Trace) -> Iterator[Observation]:
    streams = [exchange.request for exchange in trace.exchanges(LISTEN)]
    for cancellation in trace.messages if streams else ():
        if cancellation.by_subject or cancellation.method != "notifications/cancelled":
            continue
        name, connection = cancellation.params.get("requestId"), cancellation.frame.connection
        if any(same_id(each.id, name) and each.frame.connection == connection for each in streams):
            late = [
                message
                for message in trace.received
                if message.frame.connection == connection
                and message.method
                and _belongs_to(message, name)
                and _is_certainly_later(message, cancellation, trace)
            ]
            expected = "no notification for a subscription that was cancelled before"
            observed = late[0] if late else "none"
            yield observe("STD-10", not late, cancellation, *late, expected=expected, observed=observed)


def _is_certainly_later(message: Message, cancellation: Message, trace: Trace) -> bool:
    """Whether a request that the driver sent after the cancellation was answered before the message."""
    return any(
        exchange.request.frame.n > cancellation.frame.n
        and exchange.request.frame.connection == message.frame.connection
        and exchange.answer is not None
        and exchange.answer.frame.n < message.frame.n
        for exchange in trace.exchanges()
    )


def _belongs_to(message: Message, request_id: object) -> bool:
    if message.is_response:
        return same_id(message.id, request_id)
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and same_id(meta.get(SUBSCRIPTION_KEY), request_id)


@check("The process exits when its input ends", requirements=("STD-12",), transports=STDIO_ONLY)
def judge_ends_with_input(trace: Trace) -> Iterator[Observation]:
    exits = [frame for frame in trace.frames if frame.kind is Kind.EXIT]
    waited = {mark.connection: mark for mark in trace.marks("still running")}
    for end in trace.frames:
        if end.kind is not Kind.END or end.sender is not Sender.DRIVER:
            continue
        ended = next((frame for frame in exits if frame.channel == end.channel and frame.n > end.n), None)
        running = waited.get(end.connection)
        if ended is not None or running is not None:
            seconds = "" if running is None else running.info.get("waited")
            yield observe(
                "STD-12",
                ended is not None,
                end,
                *filter(None, (ended, running)),
                expected="the process to exit",
                observed=f"still running after {seconds} s",
            )


# --- what the checks must catch


@on_reply(
    "writes errors over several lines",
    breaks="STD-01",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    silent=True,
)
def pretty_errors(reply: Json, context: FaultContext) -> Json | bytes:
    return json.dumps(reply, indent=2).encode() if "error" in reply else reply


@on_line(
    "does not escape newlines in strings",
    breaks="STD-01",
    scenario="framing.lines",
    window=newest_of_each_kind,
    silent=True,
)
def raw_newline(line: bytes, context: FaultContext) -> bytes:
    return line.replace(b"\\n", b"\n")


@on_line("prints a banner before the first message", breaks="STD-02")
def banner(line: bytes, context: FaultContext) -> bytes:
    return b"Server started.\n" + line if _is_first(context) else line


def _is_first(context: FaultContext) -> bool:
    first = not context.memory
    context.memory["begun"] = True
    return first


@on_line("writes an empty line after each message", breaks="STD-02")
def blank_lines(line: bytes, context: FaultContext) -> bytes:
    return line + b"\n"


@on_line(
    "begins its output with a byte order mark",
    breaks="STD-02",
    scenario="framing.lines",
    window=newest_of_each_kind,
    silent=True,
)
def byte_order_mark(line: bytes, context: FaultContext) -> bytes:
    return b"\xef\xbb\xbf" + line if _is_first(context) else line


@on_line("writes a `Content-Length` header before each message", breaks="STD-02")
def content_length(line: bytes, context: FaultContext) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(line) + line


def _framed(name: str, breaks: str, fault: str, framing: Callable[[bytes], bytes]) -> Saboteur:
    """Writes each message in another framing; `framing` gets it without the newline."""

    def change(line: bytes, context: FaultContext) -> bytes:
        return framing(line.removesuffix(b"\n"))

    saboteur: Saboteur = on_line(
        fault,
        id=f"framing.{name}",
        breaks=breaks,
        scenario="framing.lines",
        window=newest_of_each_kind,
        silent=True,
    )(change)
    return saboteur


FRAMINGS: Final = (
    _framed("no-newline", "STD-01", "writes no newline after a message", lambda text: text),
    _framed("carriage-return", "STD-01", "ends messages with CR", lambda text: text + b"\r"),
    _framed("zero-byte", "STD-01", "ends messages with a zero byte", lambda text: text + b"\0"),
    _framed(
        "indented",
        "STD-01",
        "writes every message over several lines",
        lambda text: json.dumps(json.loads(text), indent=2).encode() + b"\n",
    ),
    _framed(
        "length-prefix",
        "STD-02",
        "writes four bytes of length before each message",
        lambda text: len(text).to_bytes(4, "big") + text,
    ),
    _framed(
        "header-framing",
        "STD-02",
        "frames messages with `Content-Length`, as language servers do",
        lambda text: b"Content-Length: %d\r\n\r\n" % len(text) + text,
    ),
    _framed("record-separator", "STD-02", "begins messages with RS", lambda text: b"\x1e" + text + b"\n"),
    _framed("utf-16", "STD-02", "writes UTF-16", lambda text: (text.decode() + "\n").encode("utf-16-le")),
    _framed("coloured", "STD-02", "colours its output", lambda text: b"\x1b[32m" + text + b"\x1b[0m\n"),
    _framed(
        "log-prefix",
        "STD-02",
        "writes messages through its logger",
        lambda text: b"INFO:root:" + text + b"\n",
    ),
    _framed("event-stream", "STD-02", "writes server-sent events", lambda text: b"data: " + text + b"\n\n"),
    _framed("prompt", "STD-02", "writes a prompt before each message", lambda text: b"> " + text + b"\n"),
)


@scripted("prints a farewell when its input ends", breaks="STD-02", scenario="framing.shutdown")
async def farewell(conversation: Conversation, revision: Revision) -> None:
    async for _ in serve_minimal(conversation, revision):
        pass
    conversation.send(b"Shutting down. Goodbye!")


@scripted("writes its log to standard output", breaks="STD-02")
async def log_on_stdout(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        conversation.send(f"INFO received {message.get('method')}\n".encode())
        if "id" in message:
            server = {"name": "chatty", "version": "1"}
            result = {"protocolVersion": revision.date, "capabilities": {}, "serverInfo": server}
            conversation.send(result_reply(message, result))


@on_reply(
    "writes two messages on one line",
    breaks="STD-02",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    window=newest_of_each_kind,
    silent=True,
)
def two_on_a_line(reply: Json, context: FaultContext) -> Json | list[Json] | bytes:
    if reply.get("id") == "line 1":
        context.memory["first"] = reply
        return []
    if reply.get("id") == "line 2":
        return encode_message(context.memory["first"]) + encode_message(reply)
    return reply


@on_reply("requests roots on stdio", breaks="STD-07", transports=STDIO_ONLY)
def asks_for_roots(reply: Json, context: FaultContext) -> list[Json]:
    repeated = bool(context.memory)
    context.memory["requested"] = True
    return [reply] if repeated else [{"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"}, reply]


def _remember_cancelled(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["cancelled"] = params["requestId"]
    return message


@on_reply("answers a cancelled request", breaks="STD-10", transports=STDIO_ONLY, request=_remember_cancelled)
def answers_cancelled(reply: Json, context: FaultContext) -> list[Json]:
    if "cancelled" not in context.memory:
        return [reply]
    # The check allows messages that arrive before the first later reply.
    context.memory["replies"] = context.memory.get("replies", 0) + 1
    error = {"code": -32800, "message": "Request cancelled"}
    late = {"jsonrpc": "2.0", "id": context.memory["cancelled"], "error": error}
    return [late, reply] if context.memory["replies"] == 2 else [reply]


@on_reply(
    "sends notifications after the subscription was cancelled",
    breaks="STD-10",
    transports=STDIO_ONLY,
    request=_remember_cancelled,
)
def goes_on_telling(reply: Json, context: FaultContext) -> list[Json]:
    if "cancelled" not in context.memory:
        return [reply]
    params = {"_meta": {SUBSCRIPTION_KEY: context.memory["cancelled"]}}
    return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}, reply]


@scripted("keeps running after its input has ended", breaks="STD-12", silent=True)
async def stays(conversation: Conversation, revision: Revision) -> None:
    async for _ in serve_minimal(conversation, revision):
        pass
    await asyncio.Event().wait()
