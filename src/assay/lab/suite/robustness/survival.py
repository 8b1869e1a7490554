"""Whether the server keeps running and answers every request, in every conversation."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_reply,
    scenario,
    scripted,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.broken_off import Gone, NoAnswer
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.links.link import UNREACHABLE
from assay.lab.harness.links.stdio import TERMINATED
from assay.lab.harness.sabotage.alteration import decode
from assay.lab.harness.sabotage.saboteur import Conversation, Saboteur, newest_of_each_kind
from assay.lab.harness.sabotage.script import minimal_answer, serve_minimal
from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.trace.unexplained_error import is_sound
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.lab.suite.unanswered import CHANNEL_CLOSED, WAITED, is_refused, unanswered
from assay.revisions.revision import Opening, Revision

# --- what is asked


LISTS: Final = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
}
TEXT_ID: Final = "an id that is a text"
NO_SUCH_TOOL: Final = "assay-lab-no-such-tool"
MOST_SILENT: Final = 2
"""Requests without an answer after which no others are sent: each takes the whole timeout."""


@scenario(
    "Send every kind of request that changes nothing",
    exercises=("robustness.every-answer", "robustness.keeps-running"),
)
async def drive_plain_requests(stage: Stage) -> None:
    peer = await stage.open()
    await peer.notify("notifications/no-such-notification")
    silent = 0
    for method, options in _plain_requests(stage):
        with contextlib.suppress(NoAnswer):
            await peer.request(method, **options)
            continue
        silent += 1
        if silent == MOST_SILENT:
            return
    await _cancel_unknown(peer)


def _plain_requests(stage: Stage) -> Iterator[tuple[str, dict[str, Any]]]:
    yield stage.plain, {}
    yield stage.plain, {"request_id": TEXT_ID}
    yield stage.plain, {"request_id": 0}
    yield "no/such/method", {}
    for method, capability in LISTS.items():
        if stage.facts.declares(capability) or capability in stage.facts.capabilities:
            yield method, {}
    if "tools" in stage.facts.capabilities:
        yield "tools/call", {"params": {"name": NO_SUCH_TOOL, "arguments": {}}}
    yield stage.plain, {}


async def _cancel_unknown(peer: Peer) -> None:
    """A notification that arrives after the answer is ignored."""
    await peer.notify("notifications/cancelled", {"requestId": "no such request"})
    await peer.sentinel()


# --- how it is judged


_LETTER: Final = re.compile(rb"[A-Za-z]")
MAX_QUOTED: Final = 5
"""Last lines of standard error that a finding quotes."""
LARGEST: Final = 64 * 1024
"""Bytes of a request that no server refuses for its size."""
HANDLED: Final = frozenset(
    {"tools/call", "prompts/get", "resources/read", "completion/complete", "subscriptions/listen"}
)
"""Requests that may take longer than the driver waits: user code handles them, or they stay open."""
RUNNING: Final = "a server that keeps running"
ANSWERED: Final = "an answer to every request"


@check("The server keeps running", requirements=("ROBUST-10",), everywhere=True)
def judge_keeps_running(trace: Trace) -> Iterator[Observation]:
    exits = [frame for frame in trace.frames if frame.kind is Kind.EXIT and _is_unasked(frame, trace)]
    for frame in exits:
        errors = _errors_before(frame, trace)
        lines = [error.raw.decode(errors="replace").strip() for error in errors] or _quoted(frame)
        observed = "; standard error: ".join(filter(None, (_exit(frame), " / ".join(lines))))
        evidence = (*_last_sent(frame, trace), *errors, frame)
        yield observe("ROBUST-10", False, *evidence, expected=RUNNING, observed=observed)
    for mark in () if exits else trace.marks(UNREACHABLE):
        observed = str(mark.info.get("reason"))
        yield observe("ROBUST-10", False, *_last_sent(mark, trace), mark, expected=RUNNING, observed=observed)
    for exchange in trace.exchanges():
        if exchange.answers:
            yield observe("ROBUST-10", True, exchange, expected=RUNNING, observed="an answer")


def _exit(frame: Frame) -> str:
    status = frame.info.get("status")
    return describe_exit(status) if isinstance(status, int) else "the subject's process exited"


def _is_unasked(frame: Frame, trace: Trace) -> bool:
    """Whether the driver neither closed the input of the process nor sent it a signal."""
    return not any(
        (earlier.kind is Kind.END and earlier.sender is Sender.DRIVER)
        or (earlier.kind is Kind.MARK and earlier.info.get("label") == TERMINATED)
        for earlier in trace.frames[: frame.n]
        if earlier.channel == frame.channel
    )


def _errors_before(frame: Frame, trace: Trace) -> list[Frame]:
    earlier = trace.frames[: frame.n]
    errors = [error for error in earlier if error.kind is Kind.ERRORS and _LETTER.search(error.raw)]
    return [error for error in errors if error.connection == frame.connection][-MAX_QUOTED:]


def _quoted(frame: Frame) -> list[str]:
    lines = frame.info.get("stderr")
    return [str(line) for line in lines][-MAX_QUOTED:] if isinstance(lines, list | tuple) else []


def _last_sent(frame: Frame, trace: Trace) -> list[Frame]:
    """The last messages that the driver sent before a frame: the very last may be a sentinel."""
    kinds = (Kind.LINE, Kind.REQUEST, Kind.TEXT)
    earlier = [sent for sent in trace.frames[: frame.n] if sent.kind in kinds]
    return [sent for sent in earlier if sent.sender is Sender.DRIVER][-2:]


@check("Every request is answered", requirements=("ROBUST-11",), everywhere=True, confirmed=True)
def judge_every_answer(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if not _is_legal(exchange, trace):
            continue
        if exchange.answers or is_refused(exchange):
            yield observe("ROBUST-11", True, exchange, expected=ANSWERED, observed=exchange)
        elif (problem := _silence(exchange, trace)) is not None:
            observed = f"{exchange.method}: {problem}"
            yield observe("ROBUST-11", False, exchange, expected=ANSWERED, observed=observed)


def _silence(exchange: Exchange, trace: Trace) -> str | None:
    """Why the request is certainly not answered; None if that follows from another finding."""
    request = exchange.request.frame
    later = [frame for frame in trace.frames[request.n + 1 :] if frame.channel == request.channel]
    if any(frame.kind is Kind.EXIT for frame in later):
        return None  # the process exited, which is a finding of its own
    if trace.transport == Transport.HTTP and (cut := _cut_off(exchange, later)) is not None:
        return cut
    problem = unanswered(exchange, trace)
    if problem == CHANNEL_CLOSED and trace.header.closed:
        return None  # the driver closed it at the end of the scenario, when the request was still open
    waited = problem is not None and problem.startswith(WAITED)
    return None if waited and _may_last(exchange, trace) else problem


def _may_last(exchange: Exchange, trace: Trace) -> bool:
    if exchange.method in HANDLED and exchange.params.get("name") != NO_SUCH_TOOL:
        return True
    # A process that has not answered yet may still be starting.
    request = exchange.request.frame
    earlier = (message.frame for message in trace.received if message.frame.n < request.n)
    has_started = any(frame.connection == request.connection for frame in earlier)
    return trace.transport == Transport.STDIO and not has_started


def _cut_off(exchange: Exchange, later: list[Frame]) -> str | None:
    """How the connection was closed without a response, although the request was small."""
    if exchange.head is not None:
        return None
    ends = (frame for frame in later if frame.kind is Kind.END and frame.sender is Sender.SUBJECT)
    problems = (frame.info.get("problem") for frame in ends if frame.info.get("clean") is False)
    return next((str(problem) for problem in problems), None)


def _is_legal(exchange: Exchange, trace: Trace) -> bool:
    request = exchange.request
    return (
        is_sound(request)
        and len(request.frame.raw) <= LARGEST
        and _is_open(exchange, trace)
        and not _is_cancelled(exchange, trace)
        and not _waits_for_driver(exchange, trace)
        and not (trace.transport == Transport.WEBSOCKET and _is_provoked(exchange, trace))
    )


def _is_open(exchange: Exchange, trace: Trace) -> bool:
    """A server need not answer other requests before the handshake."""
    if trace.revision.opening is Opening.PER_REQUEST or exchange.method == "initialize":
        return True
    connection, number = exchange.request.frame.connection, exchange.request.frame.n
    return any(
        opening.result is not None
        and opening.request.frame.connection == connection
        and opening.request.frame.n < number
        for opening in trace.exchanges("initialize")
    )


def _is_cancelled(exchange: Exchange, trace: Trace) -> bool:
    connection = exchange.request.frame.connection
    return any(
        message.method == "notifications/cancelled"
        and message.frame.connection == connection
        and same_id(message.params.get("requestId"), exchange.request.id)
        for message in trace.messages
        if not message.by_subject
    )


def _waits_for_driver(exchange: Exchange, trace: Trace) -> bool:
    """Whether the driver left a question of the server unanswered."""
    connection = exchange.request.frame.connection
    return any(
        not question.answers and question.request.frame.connection == connection
        for question in trace.all_subject_exchanges
    )


def _is_provoked(exchange: Exchange, trace: Trace) -> bool:
    """Whether an earlier message was a reason to close the WebSocket."""
    frame = exchange.request.frame
    return any(
        message.frame.connection == frame.connection and message.problem is not None
        for message in trace.messages
        if not message.by_subject and message.frame.n < frame.n
    ) or any(
        sent.connection == frame.connection
        and sent.sender is Sender.DRIVER
        and (sent.kind in (Kind.BINARY, Kind.CONTROL) or len(sent.raw) > LARGEST)
        for sent in trace.frames[: frame.n]
    )


# --- what the checks must catch


@scripted("exits after ten messages", breaks="ROBUST-10")
async def exits_after_ten(conversation: Conversation, revision: Revision) -> None:
    count = 0
    async for _ in serve_minimal(conversation, revision):
        count += 1
        if count == 10:
            return


async def _serve_until(conversation: Conversation, revision: Revision, key: str, value: object) -> None:
    """Serve until a message has that member, which ends the process without an answer."""
    while (message := await conversation.receive()) is not None:
        if message.get(key) == value:
            return
        answer = minimal_answer(message, revision)
        if answer is not None:
            conversation.send(answer)


@scripted("exits on an unknown method", breaks="ROBUST-10")
async def exits_on_unknown(conversation: Conversation, revision: Revision) -> None:
    await _serve_until(conversation, revision, "method", "no/such/method")


@scripted("exits on an unknown notification", breaks="ROBUST-10", window=newest_of_each_kind)
async def exits_on_notification(conversation: Conversation, revision: Revision) -> None:
    await _serve_until(conversation, revision, "method", "notifications/no-such-notification")


@scripted("exits on an id that is a text", breaks="ROBUST-10", window=newest_of_each_kind)
async def exits_on_text_id(conversation: Conversation, revision: Revision) -> None:
    await _serve_until(conversation, revision, "id", TEXT_ID)


@scripted("exits when an unknown request is cancelled", breaks="ROBUST-10", window=newest_of_each_kind)
async def exits_on_cancellation(conversation: Conversation, revision: Revision) -> None:
    await _serve_until(conversation, revision, "method", "notifications/cancelled")


EVERY: Final = frozenset({Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET})


def _silent(
    name: str,
    fault: str,
    method: str = "",
    *,
    request_id: object = None,
    transports: frozenset[Transport] = EVERY,
) -> Saboteur:
    """Does not answer requests of a method, or those with an id."""

    def drop(reply: Json, context: FaultContext) -> Json | None:
        request = context.request or {}
        meant = method in ("", context.method) and request_id in (None, request.get("id"))
        return None if meant and "method" not in reply else reply

    saboteur: Saboteur = on_reply(
        fault,
        id=f"robustness.{name}",
        breaks="ROBUST-11",
        scenario="robustness.plain-requests",
        window=newest_of_each_kind,
        transports=transports,
        silent=True,
    )(drop)
    return saboteur


UNANSWERED: Final = (
    _silent(
        "unknown-method-unanswered",
        "does not answer an unknown method",
        "no/such/method",
        # On HTTP the status 404 is an answer, too.
        transports=EVERY - HTTP_ONLY,
    ),
    _silent("text-id-unanswered", "does not answer an id that is a text", request_id=TEXT_ID),
    _silent("zero-id-unanswered", "does not answer the id 0", request_id=0),
    _silent("tool-list-unanswered", "does not answer `tools/list`", "tools/list"),
    _silent("prompt-list-unanswered", "does not answer `prompts/list`", "prompts/list"),
    _silent("resource-list-unanswered", "does not answer `resources/list`", "resources/list"),
    _silent(
        "template-list-unanswered", "does not answer `resources/templates/list`", "resources/templates/list"
    ),
    _silent("unknown-tool-unanswered", "does not answer a call of an unknown tool", "tools/call"),
)


def _lists_tools(request: Request) -> bool:
    message = decode(request.body)
    return isinstance(message, dict) and message.get("method") == "tools/list"


@on_call("answers a request with 202 and no message", breaks="ROBUST-11", window=newest_of_each_kind)
def accepted_unanswered(request: Request, context: FaultContext) -> Response | None:
    return Response([("Content-Type", JSON)], 202, b"") if _lists_tools(request) else None


@on_call("answers a request with 200 and an empty body", breaks="ROBUST-11", window=newest_of_each_kind)
def empty_unanswered(request: Request, context: FaultContext) -> Response | None:
    return Response([("Content-Type", JSON)], 200, b"") if _lists_tools(request) else None


@on_call("closes the connection instead of a response", breaks="ROBUST-11", window=newest_of_each_kind)
def closed_unanswered(request: Request, context: FaultContext) -> Response | None:
    if _lists_tools(request):
        raise Gone("the saboteur closes the connection")
    return None
