"""Framing on stdio: newline-delimited messages, a cancelled request, the end of standard input."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

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


LONG = "a" * (96 * 1024)
"""More than the 64 KiB that a pipe, and many a reader, holds at once."""


# A newline that must stay escaped on the way back; and what some languages take for the end of a line.
ODD = ("two\nlines", "next\u0085line", "line\u2028separator", "form\x0cfeed", "carriage\rreturn")


@scenario(
    "Lines in one piece, in many, and long",
    exercises=("framing.whole-lines", "framing.pure-stdout", "framing.no-requests", "jsonrpc.named-errors"),
    transports=STDIO_ONLY,
)
async def drive_lines(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request("no/such/method", {"padding": LONG})
    for text in ODD:
        await peer.request(stage.plain, request_id=text)
    names = ("line 1", "line 2", "line 3")
    pending = [peer.expect(stage.plain, name) for name in names]
    params = declared(stage.revision, {}, {})
    message = {"jsonrpc": "2.0", "method": stage.plain, "params": params}
    first, second, third = (encode({**message, "id": name}) + b"\n" for name in names)
    await peer.stdio.write(first + second)
    await peer.stdio.write(third[:9])
    await peer.stdio.write(third[9:])
    for one in pending:
        await peer.answer(one)


FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
ANNOUNCES = Need(
    lambda facts: any(facts.declares(name, "listChanged") for name in FILTERS), "announces no changes"
)


@scenario(
    "A request that is cancelled",
    exercises=("framing.cancelled-silence",),
    needs=(ANNOUNCES,),
    transports=STDIO_ONLY,
    window=lambda revision: "subscriptions/listen" in revision.requests,
)
async def drive_cancelled(stage: Stage) -> None:
    peer = await stage.open()
    wanted = {FILTERS[name]: True for name in FILTERS if stage.facts.declares(name, "listChanged")}
    listening = await peer.start("subscriptions/listen", {"notifications": wanted})
    await peer.sentinel()
    await peer.notify("notifications/cancelled", {"requestId": listening.id})
    # What was on its way when the cancellation came may still arrive: only what comes later is judged.
    await peer.sentinel()
    async with peer.probe("cancelled", id=listening.id):
        await peer.sentinel()


PROMPT = 5.0
"""Seconds that a server has to end: the rule says "promptly", and clients seldom wait longer."""


@scenario(
    "The end of standard input",
    exercises=("framing.pure-stdout", "framing.ends-with-input"),
    transports=STDIO_ONLY,
)
async def drive_shutdown(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    patience = min(PROMPT, stage.patience)
    if await peer.stdio.end_input(patience) is None:
        peer.mark("still running", waited=patience)
    await peer.close()


# --- how it is judged


MOST = 300
"""Lines that are tried as one message: a printed message of more has shorter ones beside it."""
EXPECTED = "a message without a newline in it"


@check("A message is one line", requirements=("STD-01",), everywhere=True, transports=STDIO_ONLY)
def judge_whole_lines(trace: Trace) -> Iterator[Observation]:
    lines: dict[str, list[Message]] = defaultdict(list)
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            lines[message.frame.channel].append(message)
    for channel in lines.values():
        yield from _judged(channel)


def _judged(lines: Sequence[Message]) -> Iterator[Observation]:
    place = 0
    while place < len(lines):
        count = _lines_of_one(lines[place : place + MOST])
        found = lines[place : place + max(count, 1)]
        if count:
            observed = f"one in {count} lines"
            yield observe("STD-01", count == 1, *found, expected=EXPECTED, observed=observed)
        place += len(found)


def _lines_of_one(lines: Sequence[Message]) -> int:
    """How many lines make up the message that begins here; 0 where none does."""
    if lines[0].value is not None:
        return 1
    if not lines[0].body.lstrip().startswith((b"{", b"[")):
        return 0
    parts: list[bytes] = []
    for line in lines:
        # The rest of a message may be a value by itself, like `]`; a whole object is another message.
        if parts and isinstance(line.value, dict):
            break
        parts.append(line.body)
        if len(parts) > 1 and _is_message(b"\n".join(parts)):
            return len(parts)
    return 0


def _is_message(text: bytes) -> bool:
    try:
        # Not strict: a raw newline inside a text is just what is looked for.
        return isinstance(json.loads(text, strict=False), dict | list)
    except (ValueError, RecursionError):
        return False


@check(
    "Nothing but messages on standard output",
    requirements=("STD-02",),
    everywhere=True,
    transports=STDIO_ONLY,
)
def judge_pure_stdout(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            is_message = isinstance(message.value, dict)
            observed = f"{message.body[:80]!r}: {message.problem}"
            yield observe("STD-02", is_message, message, expected=A_MESSAGE_PER_LINE, observed=observed)
    yield from unfinished_lines(trace, "STD-02")


@check("No requests on standard output", requirements=("STD-07",), everywhere=True, transports=STDIO_ONLY)
def judge_no_requests(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.fields:
            asks = message.shape is Shape.REQUEST
            expected = "a response or a notification"
            yield observe("STD-07", not asks, message, expected=expected, observed=message)


@check("Nothing more is said of a cancelled request", requirements=("STD-10",), transports=STDIO_ONLY)
def judge_cancelled_silence(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("cancelled"):
        said = [one for one in probe.received if _is_about(one, probe.info.get("id"))]
        yield observe(
            "STD-10",
            not said,
            probe,
            expected="no message about the cancelled request",
            observed=said[0] if said else "none",
        )


def _is_about(message: Message, request_id: object) -> bool:
    if message.is_response:
        return same_id(message.id, request_id)
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and same_id(meta.get(SUBSCRIPTION_KEY), request_id)


@check("The process exits when its input ends", requirements=("STD-12",), transports=STDIO_ONLY)
def judge_ends_with_input(trace: Trace) -> Iterator[Observation]:
    exits = [one for one in trace.frames if one.kind is Kind.EXIT]
    waited = {mark.connection: mark for mark in trace.marks("still running")}
    for end in trace.frames:
        if end.kind is not Kind.END or end.sender is not Sender.DRIVER:
            continue
        gone = next((one for one in exits if one.channel == end.channel and one.n > end.n), None)
        running = waited.get(end.connection)
        if gone is not None or running is not None:
            seconds = "" if running is None else running.info.get("waited")
            yield observe(
                "STD-12",
                gone is not None,
                end,
                *filter(None, (gone, running)),
                expected="the end of the process",
                observed=f"still running after {seconds} s",
            )


# --- what the checks must catch


@on_reply(
    "an error is spread over several lines",
    breaks="STD-01",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    silent=True,
)
def pretty_errors(reply: Json, context: FaultContext) -> Json | bytes:
    return json.dumps(reply, indent=2).encode() if "error" in reply else reply


@on_line(
    "a newline in a text is not escaped",
    breaks="STD-01",
    scenario="framing.lines",
    window=newest_of_each_kind,
    silent=True,
)
def raw_newline(line: bytes, context: FaultContext) -> bytes:
    return line.replace(b"\\n", b"\n")


@on_line("a banner comes before the first message", breaks="STD-02")
def banner(line: bytes, context: FaultContext) -> bytes:
    first = not context.memory
    context.memory["begun"] = True
    return b"Server started.\n" + line if first else line


@on_line("an empty line follows each message", breaks="STD-02")
def blank_lines(line: bytes, context: FaultContext) -> bytes:
    return line + b"\n"


@on_line(
    "the output begins with a byte order mark",
    breaks="STD-02",
    scenario="framing.lines",
    window=newest_of_each_kind,
    silent=True,
)
def byte_order_mark(line: bytes, context: FaultContext) -> bytes:
    first = not context.memory
    context.memory["begun"] = True
    return b"\xef\xbb\xbf" + line if first else line


@on_line("a `Content-Length` header comes before each message", breaks="STD-02")
def content_length(line: bytes, context: FaultContext) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(line) + line


@scripted("a farewell is printed when the input ends", breaks="STD-02", scenario="framing.shutdown")
async def farewell(conversation: Conversation, revision: Revision) -> None:
    async for _ in serve_minimal(conversation, revision):
        pass
    conversation.send(b"Shutting down. Goodbye!")


@scripted("log lines go to standard output", breaks="STD-02")
async def log_on_stdout(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        conversation.send(f"INFO received {message.get('method')}\n".encode())
        if "id" in message:
            server = {"name": "chatty", "version": "1"}
            result = {"protocolVersion": revision.date, "capabilities": {}, "serverInfo": server}
            conversation.send({"jsonrpc": "2.0", "id": message["id"], "result": result})


@on_reply(
    "two messages are on one line",
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


@on_reply("a request for roots is written to standard output", breaks="STD-07", transports=STDIO_ONLY)
def asks_for_roots(reply: Json, context: FaultContext) -> list[Json]:
    asked = bool(context.memory)
    context.memory["asked"] = True
    return [reply] if asked else [{"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"}, reply]


def note(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["late"] = params["requestId"]
    return message


@on_reply("a cancelled request is answered, late", breaks="STD-10", transports=STDIO_ONLY, request=note)
def answers_cancelled(reply: Json, context: FaultContext) -> list[Json]:
    if "late" not in context.memory:
        return [reply]
    # What comes with the first answer after it may have been on its way.
    context.memory["answers"] = context.memory.get("answers", 0) + 1
    late = {"code": -32800, "message": "the request was cancelled"}
    told = context.memory["answers"] == 2
    return [{"jsonrpc": "2.0", "id": context.memory["late"], "error": late}, reply] if told else [reply]


def goes_on_telling_note(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["cancelled"] = params["requestId"]
    return message


@on_reply(
    "notifications go on after their subscription was cancelled",
    breaks="STD-10",
    transports=STDIO_ONLY,
    request=goes_on_telling_note,
)
def goes_on_telling(reply: Json, context: FaultContext) -> list[Json]:
    if "cancelled" not in context.memory:
        return [reply]
    params = {"_meta": {SUBSCRIPTION_KEY: context.memory["cancelled"]}}
    return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}, reply]


@scripted("the process goes on when its input has ended", breaks="STD-12", silent=True)
async def stays(conversation: Conversation, revision: Revision) -> None:
    async for _ in serve_minimal(conversation, revision):
        pass
    await asyncio.Event().wait()
