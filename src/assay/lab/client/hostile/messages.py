"""Hostile messages: garbage, stray answers, unknown methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import within
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, observe_continued
from assay.lab.client.question import ROOTS, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import Tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.shape import is_server_message
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.revision import Asking

from .hostile_server import (
    ECHO,
    RESULT,
    TAKING,
    answer_to,
    call_each,
    echoed_titles,
    observe_survived,
    stops,
    titled_tools,
)

# --- what is asked


DEPTH: Final = 100_000
NOT_UTF8: Final = "not_utf8"
_LOG: Final = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%b}}'
GARBAGE: Final = {
    "plain_text": b"Listening on port 8080",
    "blank": b"",
    "broken_off": _LOG[:40],
    "number": b"42",
    "null": b"null",
    "empty_list": b"[]",
    "empty_object": b"{}",
    "no_message": b'{"hello":"world"}',
    "params_of_text": b'{"jsonrpc":"2.0","method":"notifications/message","params":"none"}',
    "too_deep": _LOG % (b"[" * DEPTH + b"]" * DEPTH),
    NOT_UTF8: _LOG % b'"\xff\xfe"',
}
"""What the server sends before it answers the call of that name."""


@client_scenario(
    "Send input that is not a message before answers",
    script=call_each(GARBAGE),
    exercises=("hostile.rubbish",),
)
async def drive_rubbish(stage: ClientStage) -> None:
    for kind, garbage in GARBAGE.items():
        # RFC 6455, 8.1: a text frame that is not UTF-8 closes a WebSocket.
        closes = kind == NOT_UTF8 and stage.transport is Transport.WEBSOCKET
        stage.server.add_tool({"name": kind}, _sending(b"no text" if closes else garbage))
    stage.server.add_tool({"name": AFTER})


def _sending(garbage: bytes) -> Tool:
    async def send(cycle: RequestCycle) -> Answer:
        await cycle.send(garbage)
        return RESULT

    return send


TRUE: Final = "the answer"
STRAY: Final = "an answer under another id"
EARLY: Final = "an answer before its request"
AGAIN: Final = "another answer, after the first"


@client_scenario(
    "Send responses to no request, and two to the same",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("first"), LIST_TOOLS, ECHO, call_tool(AFTER)), may_fail=True
    ),
    exercises=("hostile.stray-answers",),
)
async def drive_stray_answers(stage: ClientStage) -> None:
    server = stage.server

    async def first(cycle: RequestCycle) -> Answer:
        # The client lists the tools next, perhaps under the next id.
        await cycle.send(_tools(cycle, EARLY, cycle.id + 1 if isinstance(cycle.id, int) else "1"))
        return RESULT

    for tool in titled_tools(TRUE):
        server.add_tool(tool)
    server.add_tool({"name": "first"}, first)

    @server.on("tools/list")
    async def tools(cycle: RequestCycle) -> Answer:
        await cycle.send(_tools(cycle, STRAY, "nobody-asked"))
        await cycle.send(_tools(cycle, STRAY, 987_654_321))
        await cycle.send(answer_to(cycle, {"tools": server.items["tools"]}))
        await cycle.send(answer_to(cycle, {"tools": titled_tools(AGAIN)}))
        await cycle.channel.finish()
        return DONE


def _tools(cycle: RequestCycle, title: str, id: object) -> bytes:
    """A response that is valid for a call and for a list."""
    return answer_to(cycle, cycle.server.shaped("tools/list", {**RESULT, "tools": titled_tools(title)}), id)


TELLING: Final = "telling"


@client_scenario(
    "Send unknown requests and notifications",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(TELLING), call_tool(AFTER)), may_fail=True),
    exercises=("hostile.unknown",),
)
async def drive_unknown(stage: ClientStage) -> None:
    async def send(cycle: RequestCycle) -> Answer:
        await cycle.notify("notifications/lab/remark", {"text": "an unknown notification"})
        await cycle.notify("notifications/cancelled", {"requestId": "never-asked", "reason": "none"})
        if cycle.revision.asking is Asking.BY_REQUEST:
            await cycle.ask("lab/no-such-method", {})
            await cycle.ask(ROOTS, {})
        return RESULT

    stage.server.add_tool({"name": TELLING}, send)
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


@check("Input that is not a message is ignored", requirements=("HOSTILE-04",))
def judge_rubbish(trace: Trace) -> Iterator[Observation]:
    expected = "the client to receive the answer and continue"
    return observe_survived("HOSTILE-04", trace, GARBAGE, expected, answered=True)


@check(
    "Only the first response with the id of a request is its answer",
    requirements=("HOSTILE-01", "HOSTILE-02", "HOSTILE-03"),
)
def judge_stray_answers(trace: Trace) -> Iterator[Observation]:
    for call, title in echoed_titles(trace):
        expected, observed = "the schema of the answer", f"the schema of {title}"
        holds = title not in (STRAY, EARLY)
        yield observe("HOSTILE-01", holds, call, expected=expected, observed=observed)
        yield observe("HOSTILE-02", title != AGAIN, call, expected=expected, observed=observed)
    yield from observe_continued("HOSTILE-03", trace, "first", "the client to continue", then=TAKING)


@check(
    "Unknown notifications are ignored, and unknown requests refused",
    requirements=("HOSTILE-15", "HOSTILE-16", "CAN-09", "RT-04"),
)
def judge_unknown(trace: Trace) -> Iterator[Observation]:
    expected = f"error {METHOD_NOT_FOUND}"
    for exchange in trace.exchanges():
        if exchange.answer is not None and not is_server_message(exchange.request, trace.revision):
            holds = exchange.code == METHOD_NOT_FOUND
            yield observe("HOSTILE-15", holds, exchange, expected=expected, observed=str(exchange.answer))
    for question in questions(trace, ROOTS):
        if question.answer is not None and question.capability is None:
            holds = question.code == METHOD_NOT_FOUND
            observed = f"error {question.code}" if question.code else f"a result: {question.result}"
            yield observe("RT-04", holds, question, expected=expected, observed=observed)
    for requirement in ("HOSTILE-16", "CAN-09"):
        expected = "the client to continue after notifications that it does not know"
        yield from observe_continued(requirement, trace, TELLING, expected)


# --- what the checks must catch


@on_received("misses the answer after garbage", breaks="HOSTILE-04", transports=STDIO_ONLY)
def answer_lost_in_rubbish(message: Json, client: ScriptedClient) -> Json | None:
    if "hello" in message:
        client.memory["lost"] = True
    elif "result" in message and client.memory.pop("lost", False):
        return None
    return message


@on_received("accepts a response that came before its request", breaks="HOSTILE-01")
def early_kept(message: Json, client: ScriptedClient) -> Json:
    early: dict[str, Json] = client.memory.setdefault("kept", {})
    if "method" in message:
        return message
    id = repr(message.get("id"))
    if message.get("id") not in [request.id for request in client.receiver.waiting]:
        early.setdefault(id, message)
    return early.get(id, message)


@on_received("accepts a response with another id", breaks="HOSTILE-01")
def stray_taken(message: Json, client: ScriptedClient) -> Json:
    waiting = client.receiver.waiting
    if message.get("id") != "nobody-asked" or not waiting:
        return message
    return {**message, "id": waiting[-1].id}


@on_received("replaces an answer by a second one", breaks="HOSTILE-02")
def last_counts(message: Json, client: ScriptedClient) -> Json | None:
    result = message.get("result")
    first = isinstance(result, dict) and "tools" in result and TRUE in str(result)
    return None if first else message


def _refuses(name: str, fault: str, breaks: str, code: int) -> ClientSaboteur:
    """A client that sends this code in its errors."""
    return on_message(fault, id=f"hostile.{name}", breaks=breaks, scenario="hostile.unknown")(
        lambda message, client: within(message, ("error",), lambda error: {**error, "code": code})
    )


REFUSALS: Final = (
    _refuses("unknown-is-invalid", "refuses an unknown method as invalid", "HOSTILE-15", -32600),
    _refuses("roots-failed", "refuses unsupported roots as a failure", "RT-04", -32603),
)
STOPPED: Final = tuple(
    stops(name, cause, breaks=breaks, scenario=f"hostile.{scenario}")
    for name, cause, breaks, scenario in (
        ("rubbish-ends-it", "input that is not a message", "HOSTILE-04", "rubbish"),
        ("stray-ends-it", "a response to no request", "HOSTILE-03", "stray-answers"),
        ("cancellation-ends-it", "a cancellation of no request", "CAN-09", "unknown"),
        ("remark-ends-it", "an unknown notification", "HOSTILE-16", "unknown"),
    )
)
