"""Answers to the server's requests, and messages without an id."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

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

# --- what is asked


PATIENCE = 3.0


@client_scenario(
    "What the host asks is answered, or refused",
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


CODES = (-32000, -32001, -32003, -32004, -32019)
"""Each has meant something to somebody once."""


# --- how it is judged


ODD = "odd_code"


@client_scenario(
    "Codes of an implementation's own are errors like any other",
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
    "Notifications are not answered",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("telling"), call_tool(AFTER))),
    exercises=("jsonrpc.nameless",),
)
async def drive_told(stage: ClientStage) -> None:
    async def tell(cycle: RequestCycle) -> Answer:
        await cycle.progress(1, 2)
        await cycle.notify("notifications/lab/remark", {"text": "nobody knows this one"})
        return {"content": [{"type": "text", "text": "told"}]}

    stage.server.add_tool({"name": "telling"}, tell)
    stage.server.add_tool({"name": AFTER})


LONGEST = 400
"""Characters. The schema only says "concise"; what is longer than this is not."""


@check(
    "Answers are whole, and name their request",
    requirements=("BASE-06", "BASE-07", "BASE-08", "BASE-16"),
    everywhere=True,
)
def judge_answers(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.answers:
            expected, observed = "one response", f"{len(exchange.answers)} of them"
            yield observe(
                "BASE-06", len(exchange.answers) == 1, exchange, expected=expected, observed=observed
            )
    for stray in trace.strays:
        # One without an id is judged as such: see `jsonrpc.nameless`.
        if stray.id is not None:
            expected = "the id of a request that was sent here"
            yield observe("BASE-06", False, stray, expected=expected, observed=f"id {stray.id!r}")
    for message in trace.received:
        if message.fields and "method" not in message.fields:
            yield from _whole(message)


def _whole(message: Message) -> Iterator[Observation]:
    keys = sorted({"result", "error"} & message.fields.keys())
    expected, observed = "exactly one of `result` and `error`", " and ".join(keys) or "neither"
    yield observe("BASE-07", len(keys) == 1, message, expected=expected, observed=observed)
    if "error" not in message.fields:
        return
    code, text = message.error.get("code"), message.error.get("message")
    expected = "an integer `code` and a string `message`"
    right = type(code) is int and isinstance(text, str)
    yield observe("BASE-08", right, message, expected=expected, observed=f"{message.fields['error']!r}")
    if isinstance(text, str):
        short = bool(text.strip()) and len(text) <= LONGEST and len(text.splitlines()) == 1
        observed = f"{len(text)} characters in {len(text.splitlines())} lines: {text[:80]!r}"
        yield observe("BASE-16", short, message, expected="one short sentence", observed=observed)


OWN = range(-32019, -31999)
MEANING = ("server/discover", "tools/list", INITIALIZE)
"""What a client asks who takes such an error for news about version, session or tools."""


@check("Codes of an implementation's own have no fixed meaning", requirements=("BASE-22",))
def judge_own_codes(trace: Trace) -> Iterator[Observation]:
    for exchange in calls_of(trace, ODD):
        if exchange.answer is None or exchange.code not in OWN:
            continue
        since = exchange.answer.frame.n
        following = [one for one in trace.subject_exchanges() if one.request.frame.n > since]
        until = next((one for one in following if _is_next(one.params)), None)
        if until is None:
            continue
        between = [one for one in following if one.request.frame.n < until.request.frame.n]
        moved = [one for one in between if one.method in MEANING]
        observed = ", ".join(one.method for one in moved)
        expected = f"error {exchange.code} to be an error like any other"
        yield observe("BASE-22", not moved, exchange, *moved, until, expected=expected, observed=observed)


def _is_next(params: dict[str, object]) -> bool:
    return params.get("name") in (ODD, AFTER)


@check(
    "Errors name their request, and notifications get none",
    requirements=("BASE-09", "BASE-10"),
    everywhere=True,
)
def judge_nameless(trace: Trace) -> Iterator[Observation]:
    nameless = [
        one for one in trace.received if one.is_response and one.id is None and not _explained(trace, one)
    ]
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.ERROR:
            yield observe("BASE-09", True, exchange, expected="", observed="")
    for message in trace.messages:
        if not message.by_subject and message.shape is Shape.NOTIFICATION:
            yield observe("BASE-10", True, message, expected="", observed="")
    for one in nameless:
        owed = [
            request for request in trace.exchanges() if not request.answers and _before(request.request, one)
        ]
        if owed and one.shape is Shape.ERROR:
            expected = "the id of the request, which was readable"
            yield observe("BASE-09", False, one, *owed[-1:], expected=expected, observed=f"no id; {one}")
        elif any(
            not told.by_subject and told.shape is Shape.NOTIFICATION and _before(told, one)
            for told in trace.messages
        ):
            expected = "no response to a notification"
            yield observe("BASE-10", False, one, expected=expected, observed=one)


def _before(sent: Message, answer: Message) -> bool:
    return sent.frame.n < answer.frame.n and sent.frame.connection == answer.frame.connection


def _explained(trace: Trace, answer: Message) -> bool:
    """Whether the host had sent something whose id, if it has one, cannot be read."""
    sent = (one for one in trace.messages if not one.by_subject and _before(one, answer))
    return any(
        one.shape is Shape.UNKNOWN or (one.shape is Shape.REQUEST and not is_sound(one)) for one in sent
    )


# --- what the checks must catch


@on_message("answers have another id than their request", breaks="BASE-06")
def odd_answer_id(message: Json, client: ScriptedClient) -> Json:
    return message if "method" in message else {**message, "id": f"not-{message['id']}"}


@on_message("an answer is a result and an error", breaks="BASE-07")
def result_and_error(message: Json, client: ScriptedClient) -> Json:
    if "method" in message:
        return message
    return {"result": {}, "error": {"code": -32603, "message": "both"}, **message}


@on_message("an error has a text and no code", breaks="BASE-08")
def error_without_code(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: without(error, "code"))


TRACE = "Traceback (most recent call last):\n" + "  File somewhere\n" * 40


@on_message("an error holds a stack trace", breaks="BASE-16")
def long_error(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "message": TRACE})


@on_received("an error with a code of somebody's own leads to a new list of tools", breaks="BASE-22")
def meaning_of_codes(message: Json, client: ScriptedClient) -> Json:
    if message.get("error", {}).get("code") in OWN:
        client.task(client.ask("tools/list", {}, timeout=1.0))
    return message


@on_message("an error does not name its request", breaks="BASE-09")
def nameless_error(message: Json, client: ScriptedClient) -> Json:
    return without(message, "id") if "error" in message else message


@on_received("a notification is answered", breaks="BASE-10", scenario="jsonrpc.told")
def answers_notifications(message: Json, client: ScriptedClient) -> Json:
    if "method" in message and "id" not in message:
        client.task(client.send({"jsonrpc": "2.0", "id": None, "result": {}}))
    return message
