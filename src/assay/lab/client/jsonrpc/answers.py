"""Answers to the server's requests, and messages without an id."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from assay.lab.client.altered_message import within, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, INITIALIZE, calls_of
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.unexplained_error import is_sound
from assay.revisions.revision import Asking

ODD: Final = "odd_code"

# --- what is asked


PATIENCE: Final = 3.0


@client_scenario(
    "Send the client a ping and a request with an unknown method",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("asking"), call_tool(AFTER))),
    exercises=("jsonrpc.answers", "jsonrpc.nameless"),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_answers(stage: ClientStage) -> None:
    async def ask(cycle: RequestCycle) -> Answer:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await cycle.ask("ping", {})
                await cycle.ask("lab/no-such-method", {})
        return {"content": [{"type": "text", "text": "asked"}]}

    stage.server.add_tool({"name": "asking"}, ask)
    stage.server.add_tool({"name": AFTER})


CODES: Final = (-32000, -32001, -32003, -32004, -32019)
"""Codes that implementations have given a meaning."""


@client_scenario(
    "Answer calls with error codes of the implementation",
    script=ClientScript(
        steps=(LIST_TOOLS, *(optional(call_tool(ODD, code=code)) for code in CODES), call_tool(AFTER))
    ),
    exercises=("jsonrpc.own-codes",),
)
async def drive_own_codes(stage: ClientStage) -> None:
    async def refuse(cycle: RequestCycle) -> Answer:
        code = cycle.arguments.get("code")
        raise AnswerError(code if isinstance(code, int) else CODES[0], "something of our own")

    stage.server.add_tool({"name": ODD}, refuse)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "Send the client notifications",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("telling"), call_tool(AFTER))),
    exercises=("jsonrpc.nameless",),
)
async def drive_told(stage: ClientStage) -> None:
    async def notify(cycle: RequestCycle) -> Answer:
        await cycle.progress(1, 2)
        await cycle.notify("notifications/lab/remark", {"text": "an unknown notification"})
        return {"content": [{"type": "text", "text": "told"}]}

    stage.server.add_tool({"name": "telling"}, notify)
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


LONGEST: Final = 400
"""Characters. The schema only says "concise"; a longer message is not."""


@check(
    "Each request gets one valid response with its id",
    requirements=("BASE-06", "BASE-07", "BASE-08", "BASE-16"),
    everywhere=True,
)
def judge_answers(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.answers:
            count = len(exchange.answers)
            observed = f"{count} responses"
            yield observe("BASE-06", count == 1, exchange, expected="one response", observed=observed)
    for stray in trace.strays:
        # `jsonrpc.nameless` judges responses without an id.
        if stray.id is not None:
            expected, observed = "the id of a request that was sent here", f"id {stray.id!r}"
            yield observe("BASE-06", False, stray, expected=expected, observed=observed)
    for message in trace.received:
        if message.fields and "method" not in message.fields:
            yield from _judge_response(message)


def _judge_response(message: Message) -> Iterator[Observation]:
    keys = sorted({"result", "error"} & message.fields.keys())
    expected, observed = "exactly one of `result` and `error`", " and ".join(keys) or "neither"
    yield observe("BASE-07", len(keys) == 1, message, expected=expected, observed=observed)
    if "error" not in message.fields:
        return
    code, text = message.error.get("code"), message.error.get("message")
    expected, observed = "an integer `code` and a string `message`", f"{message.fields['error']!r}"
    holds = type(code) is int and isinstance(text, str)
    yield observe("BASE-08", holds, message, expected=expected, observed=observed)
    if isinstance(text, str):
        lines = len(text.splitlines())
        holds = bool(text.strip()) and len(text) <= LONGEST and lines == 1
        observed = f"{len(text)} characters in {lines} lines: {text[:80]!r}"
        yield observe("BASE-16", holds, message, expected="one short sentence", observed=observed)


OWN: Final = range(-32019, -31999)
REACTIONS: Final = ("server/discover", "tools/list", INITIALIZE)
"""Requests of a client that takes such an error as news about the version, the session or the tools."""


@check("Error codes of the implementation have no fixed meaning", requirements=("BASE-22",))
def judge_own_codes(trace: Trace) -> Iterator[Observation]:
    for call in calls_of(trace, ODD):
        if call.answer is None or call.code not in OWN:
            continue
        since = call.answer.frame.n
        later = [request for request in trace.subject_exchanges() if request.request.frame.n > since]
        places = (place for place, request in enumerate(later) if request.params.get("name") in (ODD, AFTER))
        place = next(places, None)
        if place is not None:
            reactions = [request for request in later[:place] if request.method in REACTIONS]
            expected = f"error {call.code} to be an error like any other"
            observed = ", ".join(request.method for request in reactions)
            evidence = (*reactions, later[place])
            yield observe("BASE-22", not reactions, call, *evidence, expected=expected, observed=observed)


@check(
    "Errors have the id of their request, and notifications get no response",
    requirements=("BASE-09", "BASE-10"),
    everywhere=True,
)
def judge_nameless(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.ERROR:
            yield observe("BASE-09", True, exchange, expected="", observed="")
    own = [message for message in trace.messages if not message.by_subject]
    notifications = [message for message in own if message.shape is Shape.NOTIFICATION]
    for notification in notifications:
        yield observe("BASE-10", True, notification, expected="", observed="")
    for response in trace.received:
        if not response.is_response or response.id is not None:
            continue
        if any(_is_unreadable(message) and _before(message, response) for message in own):
            continue
        unanswered = [exchange for exchange in trace.exchanges() if not exchange.answers]
        owed = [exchange for exchange in unanswered if _before(exchange.request, response)][-1:]
        if owed and response.shape is Shape.ERROR:
            expected, observed = "the id of the request, which was readable", f"no id; {response}"
            yield observe("BASE-09", False, response, *owed, expected=expected, observed=observed)
        elif any(_before(notification, response) for notification in notifications):
            expected = "no response to a notification"
            yield observe("BASE-10", False, response, expected=expected, observed=response)


def _before(earlier: Message, later: Message) -> bool:
    return earlier.frame.n < later.frame.n and earlier.frame.connection == later.frame.connection


def _is_unreadable(message: Message) -> bool:
    """Whether the client may be unable to read the id of this message of the server."""
    return message.shape is Shape.UNKNOWN or (message.shape is Shape.REQUEST and not is_sound(message))


# --- what the checks must catch


@on_message("answers under another id", breaks="BASE-06")
def odd_answer_id(message: Json, client: ScriptedClient) -> Json:
    return message if "method" in message else {**message, "id": f"not-{message['id']}"}


@on_message("answers with a result and an error", breaks="BASE-07")
def result_and_error(message: Json, client: ScriptedClient) -> Json:
    if "method" in message:
        return message
    return {"result": {}, "error": {"code": -32603, "message": "both"}, **message}


@on_message("sends errors without a code", breaks="BASE-08")
def error_without_code(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: without(error, "code"))


TRACE: Final = "Traceback (most recent call last):\n" + "  File somewhere\n" * 40


@on_message("sends a stack trace as the message of an error", breaks="BASE-16")
def long_error(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "message": TRACE})


@on_received("lists the tools again after an error code of the implementation", breaks="BASE-22")
def meaning_of_codes(message: Json, client: ScriptedClient) -> Json:
    if message.get("error", {}).get("code") in OWN:
        client.task(client.ask("tools/list", {}, timeout=1.0))
    return message


@on_message("sends errors without an id", breaks="BASE-09")
def nameless_error(message: Json, client: ScriptedClient) -> Json:
    return without(message, "id") if "error" in message else message


@on_received("answers notifications", breaks="BASE-10", scenario="jsonrpc.told")
def answers_notifications(message: Json, client: ScriptedClient) -> Json:
    if "method" in message and "id" not in message:
        client.task(client.send({"jsonrpc": "2.0", "id": None, "result": {}}))
    return message
