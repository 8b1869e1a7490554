"""Default values of elicitation forms."""

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
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.channel import Channel
from assay.lab.harness.scripted_server.client_script import ClientScript, call_tool
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


TOOL: Final = "test_client_elicitation_defaults"
SOON: Final = 1.0
"""Seconds in which a client that uses a GET stream has opened it."""


@official_scenario(
    "elicitation-sep1034-client-defaults",
    "Present a form with default values that the user accepts",
    script=ClientScript(
        steps=(call_tool(TOOL),), capabilities=("elicitation",), answers={"elicitation": "accept"}
    ),
    transports=CLIENTS,
)
async def drive_elicitation_sep1034_client_defaults(stage: ClientStage) -> None:
    async def ask(cycle: RequestCycle) -> Answer:
        question = {"message": MESSAGE, "requestedSchema": FORM}
        answer = await cycle.server.ask((await _channel(cycle)).send, "elicitation/create", question)
        return {
            "content": [
                {
                    "type": "text",
                    "text": f"Elicitation completed: {answer.get('result', answer.get('error'))}",
                }
            ]
        }

    stage.server.sessions = stage.server.standalone = True
    stage.server.add_tool({"name": TOOL, "description": "Asks the user for what has defaults"}, ask)


async def _channel(cycle: RequestCycle) -> Channel:
    """The client's GET stream, or the stream of its call if it opens none."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SOON):
            return await cycle.server.notification_channel()
    return cycle.channel


# --- how it is judged


GENERAL: Final = "client-elicitation-sep1034-general"
KINDS: Final = {
    "name": "string",
    "age": "integer",
    "score": "number",
    "status": "enum",
    "verified": "boolean",
}
BY_FIELD: Final = {field: f"client-elicitation-sep1034-{kind}-default" for field, kind in KINDS.items()}


@official_check(
    "elicitation-sep1034-client-defaults",
    "The form is accepted with its default values",
    requirements={
        GENERAL: "The form was not accepted",
        **{BY_FIELD[field]: f"The default of the {kind} field was not sent" for field, kind in KINDS.items()},
    },
)
def judge_elicitation_sep1034_client_defaults(trace: Trace) -> Iterator[Observation]:
    expected = {name: f"an accepted form with a value for {field}" for field, name in BY_FIELD.items()}
    yield from fail_unobserved(trace, _forms(trace), expected)


def _forms(trace: Trace) -> Iterator[Observation]:
    for form in trace.exchanges("elicitation/create"):
        result = form.result or {}
        accepted = result.get("action") == "accept"
        observed = str(form) if form.result is None else f"action {result.get('action')!r}"
        yield observe(GENERAL, accepted, form, expected="the form accepted", observed=observed)
        if accepted:
            content = result.get("content")
            yield from _fields(form, content if isinstance(content, dict) else {})


def _fields(form: Exchange, content: dict[str, Any]) -> Iterator[Observation]:
    for field, requirement in BY_FIELD.items():
        default, value = FIELDS[field]["default"], content.get(field)
        yield observe(
            requirement,
            _equal(value, default),
            form,
            expected=f"{field}: {default!r}",
            observed=repr(value) if field in content else "no value",
        )


def _equal(value: Any, default: Any) -> bool:
    """Equal as JSON: `true` is not a number, and 30.0 is the integer 30."""
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


# --- what the checks must catch


@on_message("declines the form that the user accepts", breaks=GENERAL)
def form_declined(message: Json, client: ScriptedClient) -> Json:
    return {**message, "result": {"action": "decline"}} if "result" in message else message


def _submits(name: str, fault: str, field: str, value: Any) -> ClientSaboteur:
    return on_message(fault, breaks=BY_FIELD[field], id=f"core.{name}")(
        lambda message, client: with_form(message, **{field: value})
    )


WRONG_VALUES: Final = (
    _submits("boolean-default-as-number", "sends the default of a boolean as a number", "verified", 1),
    _submits("last-choice-taken", "sends the last choice instead of the default", "status", "pending"),
    _submits("integer-default-as-text", "sends the default of an integer as text", "age", "30"),
    _submits("number-default-rounded", "rounds the default of a number", "score", 95),
    _submits("text-default-lost", "omits a text field with a default", "name", None),
)
