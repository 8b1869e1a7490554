"""Defaults of elicitation forms."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from assay.lab.client.altered_message import with_form
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import Brief, call_tool
from assay.lab.harness.scripted_server.channel import Channel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Exchange

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "name": {"type": "string", "description": "User name", "default": "John Doe"},
    "age": {"type": "integer", "description": "User age", "default": 30},
    "score": {"type": "number", "description": "User score", "default": 95.5},
    "status": {
        "type": "string",
        "description": "User status",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    "verified": {"type": "boolean", "description": "Verification status", "default": True},
}
FORM: Final = {"type": "object", "properties": FIELDS, "required": []}
MESSAGE: Final = "Test client default value handling - please accept with defaults"


# --- what is asked


TOOL = "test_client_elicitation_defaults"
SOON = 1.0
"""Seconds within which a client that listens on a GET stream has opened it."""


@official_scenario(
    "elicitation-sep1034-client-defaults",
    "A form is accepted as it is, with its defaults",
    brief=Brief(steps=(call_tool(TOOL),), capabilities=("elicitation",), answers={"elicitation": "accept"}),
    transports=CLIENTS,
)
async def drive_elicitation_sep1034_client_defaults(stage: ClientStage) -> None:
    async def ask(cycle: RequestCycle) -> Answer:
        question = {"message": MESSAGE, "requestedSchema": FORM}
        answer = await cycle.host.ask((await _place(cycle)).send, "elicitation/create", question)
        return {"content": [{"type": "text", "text": f"Elicitation completed: {_told(answer)}"}]}

    stage.host.sessions = stage.host.standalone = True
    stage.host.add_tool({"name": TOOL, "description": "Asks the user for what has defaults"}, ask)


async def _place(cycle: RequestCycle) -> Channel:
    """Where the client listens; the stream of its own call, where it listens nowhere else."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SOON):
            return await cycle.host.ear()
    return cycle.channel


def _told(answer: Json) -> object:
    return answer.get("result", answer.get("error"))


# --- how it is judged


GENERAL = "client-elicitation-sep1034-general"
ROWS = {
    "name": "client-elicitation-sep1034-string-default",
    "age": "client-elicitation-sep1034-integer-default",
    "score": "client-elicitation-sep1034-number-default",
    "status": "client-elicitation-sep1034-enum-default",
    "verified": "client-elicitation-sep1034-boolean-default",
}


@official_check(
    "elicitation-sep1034-client-defaults",
    "The form is accepted with its defaults",
    requirements=(GENERAL, *ROWS.values()),
)
def judge_elicitation_sep1034_client_defaults(trace: Trace) -> Iterator[Observation]:
    owed = {row: f"an accepted form, with a value for {field}" for field, row in ROWS.items()}
    yield from fail_unobserved(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for asked in trace.exchanges("elicitation/create"):
        result = asked.result or {}
        accepted = result.get("action") == "accept"
        yield observe(GENERAL, accepted, asked, expected="the form accepted", observed=_action(asked))
        if accepted:
            content = result.get("content")
            yield from _fields(asked, content if isinstance(content, dict) else {})


def _action(asked: Exchange) -> str:
    return f"action {asked.result.get('action')!r}" if asked.result is not None else str(asked)


def _fields(asked: Exchange, content: dict[str, Any]) -> Iterator[Observation]:
    for field, row in ROWS.items():
        default, given = FIELDS[field]["default"], content.get(field)
        told = repr(given) if field in content else "no value"
        yield observe(row, _same(given, default), asked, expected=f"{field}: {default!r}", observed=told)


def _same(given: Any, default: Any) -> bool:
    """Equal as JSON: true is no number, and 30.0 is the integer 30."""
    return isinstance(given, bool) == isinstance(default, bool) and bool(given == default)


# --- what the checks must catch


@on_message(
    "the default of a boolean is sent as a number", breaks="client-elicitation-sep1034-boolean-default"
)
def boolean_default_as_number(message: Json, client: ScriptedClient) -> Json:
    return with_form(message, verified=1)


@on_message(
    "the last choice is taken in place of the default", breaks="client-elicitation-sep1034-enum-default"
)
def last_choice_taken(message: Json, client: ScriptedClient) -> Json:
    return with_form(message, status="pending")


@on_message("what the user accepts is declined", breaks="client-elicitation-sep1034-general")
def form_declined(message: Json, client: ScriptedClient) -> Json:
    return {**message, "result": {"action": "decline"}} if "result" in message else message


@on_message("the default of an integer is sent as text", breaks="client-elicitation-sep1034-integer-default")
def integer_default_as_text(message: Json, client: ScriptedClient) -> Json:
    return with_form(message, age="30")


@on_message("the default of a number is rounded", breaks="client-elicitation-sep1034-number-default")
def number_default_rounded(message: Json, client: ScriptedClient) -> Json:
    return with_form(message, score=95)


@on_message("a field of text with a default is left out", breaks="client-elicitation-sep1034-string-default")
def text_default_lost(message: Json, client: ScriptedClient) -> Json:
    return with_form(message, name=None)
