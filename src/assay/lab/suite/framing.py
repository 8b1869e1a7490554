"""Framing on stdio: newline-delimited messages, a cancelled request, the end of standard input."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
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
from assay.lab.harness.sabotage.saboteur import Conversation, newest_of_each_kind, params_of
from assay.lab.harness.sabotage.script import serve_minimal
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.revision import Revision

from .envelope import A_MESSAGE_PER_LINE, unfinished_lines

# --- what is asked


LONG: Final = "a" * (96 * 1024)
"""More than the 64 KiB of a pipe and of many buffers."""
# A newline, which must be escaped in the reply, and characters that some languages treat as line ends.
LINE_ENDS: Final = ("two\nlines", "next\u0085line", "line\u2028separator", "form\x0cfeed", "carriage\rreturn")


@scenario(
    "Send long lines, several lines at once, and parts of a line",
    exercises=("framing.whole-lines", "framing.pure-stdout", "framing.no-requests", "jsonrpc.named-errors"),
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
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            is_message = isinstance(message.value, dict)
            observed = f"{message.body[:80]!r}: {message.problem}"
            yield observe("STD-02", is_message, message, expected=A_MESSAGE_PER_LINE, observed=observed)
    yield from unfinished_lines(trace, "STD-02")


@check("Servers send no requests on stdio", requirements=("STD-07",), everywhere=True, transports=STDIO_ONLY)
def judge_no_requests(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.fields:
            allowed = message.shape is not Shape.REQUEST
            expected = "a response or a notification"
            yield observe("STD-07", allowed, message, expected=expected, observed=message)


@check("No messages follow for a cancelled request", requirements=("STD-10",), transports=STDIO_ONLY)
def judge_cancelled_silence(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("cancelled"):
        late = [message for message in probe.received if _belongs_to(message, probe.info.get("id"))]
        expected = "no message for the cancelled request"
        yield observe("STD-10", not late, probe, expected=expected, observed=late[0] if late else "none")


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
