"""stdio: framing, lifecycle, load."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    observe,
    on_reply,
    on_request,
    scenario,
    scripted,
)
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import encode
from assay.lab.harness.links.stdio import TERMINATED
from assay.lab.harness.sabotage.alteration import encode as encode_message
from assay.lab.harness.sabotage.saboteur import Conversation, LocalAnswer, newest_of_each_kind
from assay.lab.harness.sabotage.script import minimal_answer, serve_minimal
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.marketplace.declaration import profile_check
from assay.model.error import PARSE_ERROR
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision

# --- what is asked


ODD = ("two\nlines", "next\u0085line", "line\u2028separator", "naïve ☃")
"""Ids that come back in the answer: a newline must stay escaped, and the rest is UTF-8."""
BY_CRLF = "crlf"


@scenario("Lines on standard streams", exercises=("tpt.stdio-framing",), transports=STDIO_ONLY)
async def drive_stdio_framing(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request("no/such/method", {"text": "naïve ☃\n"})
    for text in ODD:
        await peer.request(stage.plain, request_id=text)
    pending = peer.expect(stage.plain, BY_CRLF)
    params = declared(stage.revision, {}, {})
    message = {"jsonrpc": "2.0", "id": BY_CRLF, "method": stage.plain, "params": params}
    await peer.stdio.write(encode(message) + b"\r\n")
    await peer.answer(pending)


PROMPT = 5.0
"""Seconds that the profile gives a server to end."""
RUNNING = "still running"


@scenario("The end of a process", exercises=("tpt.stdio-lifecycle",), transports=STDIO_ONLY)
async def drive_stdio_lifecycle(stage: Stage) -> None:
    patience = min(PROMPT, stage.patience)
    first = await stage.open()
    await first.sentinel()
    if await first.stdio.end_input(patience) is None:
        first.mark(RUNNING, waited=patience)
    await first.close()
    second = await stage.open()
    await second.sentinel()
    if await second.stdio.terminate(patience) is None:
        second.mark(RUNNING, waited=patience)
    await second.close()


LONG = "a" * (1024 * 1024)
MANY = 10_000
NOTHING = "no/such/method"
"""Refused with little to say: ten thousand answers fit into a trace."""


@scenario(
    "A long line, and ten thousand at once",
    exercises=("tpt.stdio-load",),
    transports=STDIO_ONLY,
    window=newest_of_each_kind,
)
async def drive_stdio_load(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(NOTHING, {"padding": LONG})
    params = declared(stage.revision, {}, {})
    asked = [peer.expect(NOTHING, f"one of many {number}") for number in range(MANY)]
    lines = ({"jsonrpc": "2.0", "id": one.id, "method": NOTHING, "params": params} for one in asked)
    await peer.stdio.write(b"".join(encode(line) + b"\n" for line in lines))
    for pending in asked:
        await peer.answer(pending)


# --- how it is judged


ROW = "CONF-TPT-01.stdio.framing"
LINE = "one JSON-RPC message in UTF-8 on a line of its own"


@profile_check("Lines on standard streams", requirements=(ROW,), transports=STDIO_ONLY)
def judge_stdio_framing(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            observed = f"{message.body[:80]!r}: {message.problem or 'no object'}"
            yield observe(ROW, _is_message(message), message, expected=LINE, observed=observed)
    for frame in trace.frames:
        if _is_unended(frame):
            observed = f"{frame.raw[-80:]!r} without a newline"
            yield observe(ROW, False, frame, expected=LINE, observed=observed)
    yield from _by_crlf(trace)


def _is_message(message: Message) -> bool:
    return isinstance(message.value, dict)


def _is_unended(frame: Frame) -> bool:
    return frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"


def _by_crlf(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.request.frame.raw.endswith(b"\r\n") and (exchange.answer or _given_up(trace)):
            expected = "an answer to a line that ends in CR LF"
            yield observe(ROW, exchange.result is not None, exchange, expected=expected, observed=exchange)


def _given_up(trace: Trace) -> bool:
    return any(trace.marks("no answer"))


STDIO_LIFECYCLE_ROW = "CONF-TPT-01.stdio.lifecycle"


@profile_check("The end of a process", requirements=(STDIO_LIFECYCLE_ROW,), transports=STDIO_ONLY)
def judge_stdio_lifecycle(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.END and frame.sender is Sender.DRIVER:
            yield from _ended(trace, frame, "after its input has ended")
    for mark in trace.marks(TERMINATED):
        yield from _ended(trace, mark, "after SIGTERM")


def _ended(trace: Trace, asked: Frame, when: str) -> Iterator[Observation]:
    later = [one for one in trace.frames[asked.n :] if one.connection == asked.connection]
    gone = next((one for one in later if one.kind is Kind.EXIT), None)
    running = next((one for one in trace.marks("still running") if one in later), None)
    if gone is not None or running is not None:
        waited = "" if running is None else running.info.get("waited")
        yield observe(
            STDIO_LIFECYCLE_ROW,
            gone is not None,
            asked,
            *filter(None, (gone, running)),
            expected=f"the end of the process {when}",
            observed=f"still running after {waited} s",
        )


STDIO_LOAD_ROW = "CONF-TPT-01.stdio.load"
STDIO_LOAD_LINE = 1024 * 1024


@profile_check("Long lines, and many at once", requirements=(STDIO_LOAD_ROW,), transports=STDIO_ONLY)
def judge_stdio_load(trace: Trace) -> Iterator[Observation]:
    over = trace.header.closed or any(trace.marks("no answer")) or _has_ended(trace)
    long = [one for one in trace.exchanges() if len(one.request.frame.raw) > STDIO_LOAD_LINE]
    for exchange in long[:1]:
        if exchange.answer is not None or over:
            held = exchange.answer is not None and exchange.answer.id == exchange.request.id
            yield observe(
                STDIO_LOAD_ROW, held, exchange, expected="an answer to a line of 1 MiB", observed=exchange
            )
    many = [one for one in trace.exchanges() if str(one.request.id).startswith("one of many")]
    if many and over:
        yield _counted(many)


def _has_ended(trace: Trace) -> bool:
    return any(frame.kind is Kind.EXIT for frame in trace.frames)


def _counted(many: list[Exchange]) -> Observation:
    wrong = [one for one in many if len(one.answers) != 1]
    lost = sum(not one.answers for one in wrong)
    observed = f"{lost} without an answer, {len(wrong) - lost} with several"
    shown = wrong[0] if wrong else many[-1]
    expected = f"one answer to each of {len(many)} lines that were sent at once"
    return observe(STDIO_LOAD_ROW, not wrong, shown, expected=expected, observed=observed)


# --- what the checks must catch


@scripted("a greeting is printed before the first message", breaks="CONF-TPT-01.stdio.framing")
async def stdio_framing_banner(conversation: Conversation, revision: Revision) -> None:
    conversation.send(b"Server ready.\n")
    async for _ in serve_minimal(conversation, revision):
        pass


@on_request("a line that ends in CR LF is no JSON", breaks="CONF-TPT-01.stdio.framing", transports=STDIO_ONLY)
def stdio_framing_crlf(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id") != "crlf":
        return message
    error = {"code": PARSE_ERROR, "message": "parse error"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": "crlf", "error": error}])


@on_reply(
    "an error is printed over several lines",
    breaks="CONF-TPT-01.stdio.framing",
    transports=STDIO_ONLY,
    silent=True,
)
def stdio_framing_printed(reply: Json, context: FaultContext) -> Json | bytes:
    return json.dumps(reply, indent=2).encode() if "error" in reply else reply


@scripted("the process ignores SIGTERM", breaks="CONF-TPT-01.stdio.lifecycle", silent=True)
async def stdio_lifecycle_deaf(conversation: Conversation, revision: Revision) -> None:
    conversation.ignores_termination = True
    async for _ in serve_minimal(conversation, revision):
        pass


@scripted("the process goes on when its input has ended", breaks="CONF-TPT-01.stdio.lifecycle", silent=True)
async def stdio_lifecycle_stays(conversation: Conversation, revision: Revision) -> None:
    async for _ in serve_minimal(conversation, revision):
        pass
    await asyncio.Event().wait()


QUEUE = 4096


@scripted(
    "what comes after 4096 messages is forgotten",
    breaks="CONF-TPT-01.stdio.load",
    silent=True,
    window=lambda revision: revision in HANDSHAKE,
)
async def stdio_load_forgets(conversation: Conversation, revision: Revision) -> None:
    count = 0
    while (message := await conversation.receive()) is not None:
        count += 1
        answer = minimal_answer(message, revision)
        if answer is not None and count <= QUEUE:
            conversation.send(answer)


BUFFER = 64 * 1024


@scripted(
    "a line over 64 KiB is taken for rubbish",
    breaks="CONF-TPT-01.stdio.load",
    window=lambda revision: revision in PER_REQUEST,
)
async def stdio_load_long(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        answer = minimal_answer(message, revision)
        if len(encode_message(message)) > BUFFER:
            conversation.send({"jsonrpc": "2.0", "error": {"code": PARSE_ERROR, "message": "too long"}})
        elif answer is not None:
            conversation.send(answer)
