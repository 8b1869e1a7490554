"""Hostile messages: garbage, stray answers, unknown methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, observe_continued
from assay.lab.client.question import ROOTS, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.shape import knows
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.revision import Asking

from .hostile_server import (
    ECHO,
    TAKING,
    WELL,
    Evil,
    add_shaped,
    answer_to,
    echoed,
    shaped,
    trying,
    undeterred,
)

# --- how it is judged


DEPTH: Final = 100_000
NOT_UTF8: Final = "not_utf8"
_LOG: Final = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%b}}'
RUBBISH: Final = {
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
"""What the host says before it answers the call of that name."""


@client_scenario("What is no message is left alone", script=trying(RUBBISH), exercises=("hostile.rubbish",))
async def drive_rubbish(stage: ClientStage) -> None:
    for kind, rubbish in RUBBISH.items():
        # A text frame that is no text ends a WebSocket connection by the rules of that.
        told = kind != NOT_UTF8 or stage.transport is not Transport.WEBSOCKET
        stage.server.add_tool({"name": kind}, _saying(rubbish if told else b"no text"))
    stage.server.add_tool({"name": AFTER})


def _saying(rubbish: bytes) -> Evil:
    async def say(cycle: RequestCycle) -> Answer:
        await cycle.send(rubbish)
        return WELL

    return say


@client_scenario(
    "Answers that answer nothing do no harm",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("first"), LIST_TOOLS, ECHO, call_tool(AFTER)), may_fail=True
    ),
    exercises=("hostile.stray-answers",),
)
async def drive_stray_answers(stage: ClientStage) -> None:
    server = stage.server

    async def first(cycle: RequestCycle) -> Answer:
        """Then the client will list the tools, perhaps under the next id."""
        following = cycle.id + 1 if isinstance(cycle.id, int) else "1"
        await cycle.send(_tools(cycle, EARLY, following))
        return WELL

    add_shaped(server, TRUE)
    server.add_tool({"name": "first"}, first)

    @server.on("tools/list")
    async def tools(cycle: RequestCycle) -> Answer:
        await cycle.send(_tools(cycle, STRAY, "nobody-asked"))
        await cycle.send(_tools(cycle, STRAY, 987_654_321))
        await cycle.send(answer_to(cycle, {"tools": server.items["tools"]}))
        await cycle.send(answer_to(cycle, {"tools": shaped(AGAIN)}))
        await cycle.channel.finish()
        return DONE


def _tools(cycle: RequestCycle, title: str, number: object) -> bytes:
    """It would do as an answer to either kind of request."""
    return answer_to(cycle, cycle.server.shaped("tools/list", {**WELL, "tools": shaped(title)}), number)


TELLING: Final = "telling"


@client_scenario(
    "What a client does not know is ignored, or refused",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(TELLING), call_tool(AFTER)), may_fail=True),
    exercises=("hostile.unknown",),
)
async def drive_unknown(stage: ClientStage) -> None:
    async def tell(cycle: RequestCycle) -> Answer:
        await cycle.notify(REMARK, {"text": "nobody knows this one"})
        await cycle.notify("notifications/cancelled", {"requestId": "never-asked", "reason": "none"})
        if cycle.revision.asking is Asking.BY_REQUEST:
            await cycle.ask("lab/no-such-method", {})
            await cycle.ask("roots/list", {})
        return WELL

    stage.server.add_tool({"name": TELLING}, tell)
    stage.server.add_tool({"name": AFTER})


ROW = "HOSTILE-04"


@check("What is no message ends nothing", requirements=(ROW,))
def judge_rubbish(trace: Trace) -> Iterator[Observation]:
    return undeterred(ROW, trace, RUBBISH, "the client to go on, and to hear the answer", heard=True)


NOBODY, TWICE, UNDETERRED = "HOSTILE-01", "HOSTILE-02", "HOSTILE-03"
TRUE: Final = "the answer"
STRAY: Final = "an answer under another id"
EARLY: Final = "an answer before its request"
AGAIN: Final = "another answer, after the first"


@check("An answer is one only under the id of its request", requirements=(NOBODY, TWICE, UNDETERRED))
def judge_stray_answers(trace: Trace) -> Iterator[Observation]:
    for one, title in echoed(trace):
        expected, observed = "the schema of the answer", f"the schema of {title}"
        yield observe(NOBODY, title not in (STRAY, EARLY), one, expected=expected, observed=observed)
        yield observe(TWICE, title != AGAIN, one, expected=expected, observed=observed)
    yield from observe_continued(UNDETERRED, trace, "first", "the client to go on", then=TAKING)


REQUEST, NOTIFICATION, CANCELLATION, ROOTLESS = "HOSTILE-15", "HOSTILE-16", "CAN-09", "RT-04"
REMARK: Final = "notifications/lab/remark"


@check("What is unknown is ignored, or refused", requirements=(REQUEST, NOTIFICATION, CANCELLATION, ROOTLESS))
def judge_unknown(trace: Trace) -> Iterator[Observation]:
    expected = f"error {METHOD_NOT_FOUND}"
    for one in trace.exchanges():
        if one.answer is not None and not knows(one.request, trace.revision):
            observed = f"{one.answer}"
            yield observe(REQUEST, one.code == METHOD_NOT_FOUND, one, expected=expected, observed=observed)
    for question in questions(trace, ROOTS):
        if question.answer is not None and question.capability is None:
            observed = f"error {question.code}" if question.code else f"a result: {question.result}"
            yield observe(
                ROOTLESS, question.code == METHOD_NOT_FOUND, question, expected=expected, observed=observed
            )
    for row in (NOTIFICATION, CANCELLATION):
        yield from observe_continued(
            row, trace, TELLING, "the client to go on after what means nothing to it"
        )


# --- what the checks must catch


@on_received("the answer after what is no message is not heard", breaks="HOSTILE-04", transports=STDIO_ONLY)
def answer_lost_in_rubbish(message: Json, client: ScriptedClient) -> Json | None:
    if "hello" in message:
        client.memory["lost"] = True
    elif "result" in message and client.memory.pop("lost", False):
        return None
    return message


@misbehaving("what is no message ends the client", breaks="HOSTILE-04", scenario="hostile.rubbish")
async def rubbish_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:2])
    raise StepFailed("the server wrote what is no JSON")


@on_received("an answer from before the request is taken for its answer", breaks="HOSTILE-01")
def early_kept(message: Json, client: ScriptedClient) -> Json:
    kept: dict[str, Json] = client.memory.setdefault("kept", {})
    if "method" in message:
        return message
    name = repr(message.get("id"))
    if message.get("id") not in [one.id for one in client.receiver.waiting]:
        kept.setdefault(name, message)
    return kept.get(name, message)


@on_received("an answer under another id is taken for the one that is waited for", breaks="HOSTILE-01")
def stray_taken(message: Json, client: ScriptedClient) -> Json:
    waiting = client.receiver.waiting
    if message.get("id") != "nobody-asked" or not waiting:
        return message
    return {**message, "id": waiting[-1].id}


@on_received("the second answer to a request replaces the first", breaks="HOSTILE-02")
def last_counts(message: Json, client: ScriptedClient) -> Json | None:
    result = message.get("result")
    if not isinstance(result, dict) or "tools" not in result:
        return message
    return None if TRUE in str(result) else message


@misbehaving(
    "an answer that answers nothing ends the client", breaks="HOSTILE-03", scenario="hostile.stray-answers"
)
async def stray_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:2])
    raise StepFailed("an answer came that nobody waits for")


@misbehaving("a cancellation of nothing ends the client", breaks="CAN-09", scenario="hostile.unknown")
async def cancellation_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:2])
    raise StepFailed("there is no such request to cancel")


@on_message(
    "an unknown request is refused as an invalid one", breaks="HOSTILE-15", scenario="hostile.unknown"
)
def unknown_is_invalid(message: Json, client: ScriptedClient) -> Json:
    if "error" not in message:
        return message
    return {**message, "error": {**message["error"], "code": -32600}}


@misbehaving("an unknown notification ends the client", breaks="HOSTILE-16", scenario="hostile.unknown")
async def remark_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:2])
    raise StepFailed("the server told something that is not known here")


@on_message(
    "roots that are not supported are refused as a failure", breaks="RT-04", scenario="hostile.unknown"
)
def roots_failed(message: Json, client: ScriptedClient) -> Json:
    if "error" not in message:
        return message
    return {**message, "error": {**message["error"], "code": -32603}}
