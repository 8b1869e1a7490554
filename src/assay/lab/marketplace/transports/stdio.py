"""stdio: framing, the end of the process, and load."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    error_reply,
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
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.marketplace.declaration import profile_check
from assay.model.error import PARSE_ERROR
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision

# --- what is asked

ODD: Final = ("two\nlines", "next\u0085line", "line\u2028separator", "naïve ☃")
"""Ids that answers repeat: a newline must stay escaped, and everything is UTF-8."""
BY_CRLF: Final = "crlf"


@scenario(
    "Send ids with special characters, and a line that ends in CR LF",
    exercises=("tpt.stdio-framing",),
    transports=STDIO_ONLY,
)
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


DEADLINE: Final = 5.0
"""Seconds in which the profile requires a server to end."""
RUNNING: Final = "still running"


@scenario("End the input, and send SIGTERM", exercises=("tpt.stdio-lifecycle",), transports=STDIO_ONLY)
async def drive_stdio_lifecycle(stage: Stage) -> None:
    patience = min(DEADLINE, stage.patience)
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


LONG: Final = 1024 * 1024
MANY: Final = 10_000
UNKNOWN: Final = "no/such/method"
"""Its refusals are short: ten thousand of them fit into a trace."""
NUMBERED: Final = "one of many"


@scenario(
    "Send a line of 1 MiB, and 10,000 lines at once",
    exercises=("tpt.stdio-load",),
    transports=STDIO_ONLY,
    window=newest_of_each_kind,
)
async def drive_stdio_load(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(UNKNOWN, {"padding": "a" * LONG})
    params = declared(stage.revision, {}, {})
    requests = [peer.expect(UNKNOWN, f"{NUMBERED} {number}") for number in range(MANY)]
    lines = (
        {"jsonrpc": "2.0", "id": pending.id, "method": UNKNOWN, "params": params} for pending in requests
    )
    await peer.stdio.write(b"".join(encode(line) + b"\n" for line in lines))
    for pending in requests:
        await peer.answer(pending)


# --- how it is judged

FRAMING: Final = "CONF-TPT-01.stdio.framing"
LIFECYCLE: Final = "CONF-TPT-01.stdio.lifecycle"
LOAD: Final = "CONF-TPT-01.stdio.load"
LINE: Final = "one JSON-RPC message in UTF-8 per line"


@profile_check("Standard output has one message per line", requirements=(FRAMING,), transports=STDIO_ONLY)
def judge_stdio_framing(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            observed = f"{message.body[:80]!r}: {message.problem or 'not an object'}"
            holds = isinstance(message.value, dict)
            yield observe(FRAMING, holds, message, expected=LINE, observed=observed)
    for frame in trace.frames:
        if _is_unended(frame):
            observed = f"{frame.raw[-80:]!r} without a newline"
            yield observe(FRAMING, False, frame, expected=LINE, observed=observed)
    yield from _judge_crlf(trace)


def _is_unended(frame: Frame) -> bool:
    return frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"


def _judge_crlf(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.request.frame.raw.endswith(b"\r\n") and (
            exchange.answer or any(trace.marks("no answer"))
        ):
            holds, expected = exchange.result is not None, "an answer to a line that ends in CR LF"
            yield observe(FRAMING, holds, exchange, expected=expected, observed=exchange)


@profile_check(
    "The process ends with its input, and after SIGTERM", requirements=(LIFECYCLE,), transports=STDIO_ONLY
)
def judge_stdio_lifecycle(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.END and frame.sender is Sender.DRIVER:
            yield from _judge_end(trace, frame, "after its input has ended")
    for mark in trace.marks(TERMINATED):
        yield from _judge_end(trace, mark, "after SIGTERM")


def _judge_end(trace: Trace, cause: Frame, when: str) -> Iterator[Observation]:
    later = [frame for frame in trace.frames[cause.n :] if frame.connection == cause.connection]
    end = next((frame for frame in later if frame.kind is Kind.EXIT), None)
    running = next((mark for mark in trace.marks(RUNNING) if mark in later), None)
    if end is not None or running is not None:
        waited = "" if running is None else running.info.get("waited")
        frames = filter(None, (cause, end, running))
        expected, observed = f"the end of the process {when}", f"still running after {waited} s"
        yield observe(LIFECYCLE, end is not None, *frames, expected=expected, observed=observed)


@profile_check("Long lines and many lines at once are answered", requirements=(LOAD,), transports=STDIO_ONLY)
def judge_stdio_load(trace: Trace) -> Iterator[Observation]:
    ended = any(frame.kind is Kind.EXIT for frame in trace.frames)
    is_over = trace.header.closed or any(trace.marks("no answer")) or ended
    long = [exchange for exchange in trace.exchanges() if len(exchange.request.frame.raw) > LONG]
    for exchange in long[:1]:
        if exchange.answer is not None or is_over:
            holds = exchange.answer is not None and exchange.answer.id == exchange.request.id
            yield observe(LOAD, holds, exchange, expected="an answer to a line of 1 MiB", observed=exchange)
    many = [exchange for exchange in trace.exchanges() if str(exchange.request.id).startswith(NUMBERED)]
    if many and is_over:
        yield _judge_many(many)


def _judge_many(exchanges: list[Exchange]) -> Observation:
    wrong = [exchange for exchange in exchanges if len(exchange.answers) != 1]
    lost = sum(not exchange.answers for exchange in wrong)
    observed = f"{lost} without an answer, {len(wrong) - lost} with several"
    example = wrong[0] if wrong else exchanges[-1]
    expected = f"one answer to each of {len(exchanges)} lines that were sent at once"
    return observe(LOAD, not wrong, example, expected=expected, observed=observed)


# --- what the checks must catch


@scripted("prints a greeting before the first message", breaks=FRAMING)
async def stdio_framing_banner(conversation: Conversation, revision: Revision) -> None:
    conversation.send(b"Server ready.\n")
    async for _ in serve_minimal(conversation, revision):
        pass


@on_request("refuses a line that ends in CR LF", breaks=FRAMING, transports=STDIO_ONLY)
def stdio_framing_crlf(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id") != BY_CRLF:
        return message
    return LocalAnswer([error_reply(message, PARSE_ERROR, "parse error")])


@on_reply("prints an error on several lines", breaks=FRAMING, transports=STDIO_ONLY, silent=True)
def stdio_framing_printed(reply: Json, context: FaultContext) -> Json | bytes:
    return json.dumps(reply, indent=2).encode() if "error" in reply else reply


@scripted("ignores SIGTERM", breaks=LIFECYCLE, silent=True, ignores_termination=True)
async def stdio_lifecycle_deaf(conversation: Conversation, revision: Revision) -> None:
    conversation.ignores_termination = True
    async for _ in serve_minimal(conversation, revision):
        pass


@scripted("keeps running after its input has ended", breaks=LIFECYCLE, silent=True)
async def stdio_lifecycle_stays(conversation: Conversation, revision: Revision) -> None:
    async for _ in serve_minimal(conversation, revision):
        pass
    await asyncio.Event().wait()


@scripted(
    "drops every message after the first 4,096",
    breaks=LOAD,
    silent=True,
    window=lambda revision: revision in HANDSHAKE,
)
async def stdio_load_forgets(conversation: Conversation, revision: Revision) -> None:
    count = 0
    while (message := await conversation.receive()) is not None:
        count += 1
        answer = minimal_answer(message, revision)
        if answer is not None and count <= 4096:
            conversation.send(answer)


@scripted("refuses lines over 64 KiB", breaks=LOAD, window=lambda revision: revision in PER_REQUEST)
async def stdio_load_long(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        answer = minimal_answer(message, revision)
        if len(encode_message(message)) > 64 * 1024:
            conversation.send({"jsonrpc": "2.0", "error": {"code": PARSE_ERROR, "message": "too long"}})
        elif answer is not None:
            conversation.send(answer)
