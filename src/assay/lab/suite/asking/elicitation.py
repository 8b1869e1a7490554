"""Elicitation: which forms and URLs a server asks a user for, and how it uses the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_reply,
    on_request,
    result_reply,
    scenario,
)
from assay.lab.harness.driver.question import (
    ELICIT,
    URL_REQUIRED,
    Question,
    Round,
    answers_in,
    questions,
    rounds_of,
)
from assay.lab.harness.need import A_CALLABLE_TOOL, A_PROMPT, either
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR

from .question import (
    ALL_CAPABILITIES,
    AN_ASKING_TOOL_WITH_EFFECTS,
    Answers,
    edited_questions,
    on_question,
    requests_with_effects,
    safe_requests,
)

COMPLETE: Final = "notifications/elicitation/complete"

# --- what is asked


EXERCISED: Final = (
    "asking.declared-only",
    "asking.elicitation",
    "asking.url-mode",
    "asking.completion-notice",
    "asking.sampling",
    "asking.misfit",
    "asking.refusal",
)


@scenario(
    "Answer the questions of tools with effects in every way",
    exercises=EXERCISED,
    needs=(AN_ASKING_TOOL_WITH_EFFECTS,),
    effects=True,
)
async def drive_other_tools(stage: Stage) -> None:
    peer = await stage.open(**ALL_CAPABILITIES)
    answers = Answers(peer)
    for send in requests_with_effects(peer, stage.facts):
        await answers.try_all(send)


@scenario(
    "Answer the questions of prompts and read-only tools in every way",
    exercises=EXERCISED,
    needs=(either(A_CALLABLE_TOOL, A_PROMPT),),
)
async def drive_read_only(stage: Stage) -> None:
    peer = await stage.open(**ALL_CAPABILITIES)
    answers = Answers(peer)
    for send in safe_requests(peer, stage.facts):
        await answers.try_all(send)


# --- how it is judged


MODES: Final = ("form", "url")
PRIMITIVE: Final = ("string", "number", "integer", "boolean")
LINK: Final = re.compile(r"\bhttps?://", re.IGNORECASE)


@check(
    "Elicitations are complete, and forms are flat", requirements=("EL-04", "EL-06", "EL-31"), everywhere=True
)
def judge_elicitation(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ELICIT):
        message = question.params.get("message")
        yield observe(
            "EL-04",
            isinstance(message, str) and question.mode in MODES,
            question,
            expected="a `message`, and form or url as `mode`",
            observed=f"message {message!r}, mode {question.mode!r}",
        )
        if question.mode == "form":
            yield from _judge_form(question, multi_select=trace.revision.multi_select)


def _judge_form(question: Question, *, multi_select: bool) -> Iterator[Observation]:
    schema = question.params.get("requestedSchema")
    problem = form_problem(schema, multi_select=multi_select)
    expected = "a `requestedSchema` that is a flat object of primitive fields"
    yield observe("EL-06", problem is None, question, expected=expected, observed=problem)
    texts = [question.params.get("message"), schema.get("title") if isinstance(schema, dict) else None]
    links = [text for text in texts if isinstance(text, str) and LINK.search(text)]
    expected = "no link in a form; pages are opened in url mode"
    yield observe("EL-31", not links, question, expected=expected, observed=", ".join(links))


def form_problem(schema: Any, *, multi_select: bool) -> str | None:
    """Why a schema is not a valid form; `multi_select` allows arrays of enum values."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"requestedSchema {str(schema)[:80]}"
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return f"properties {str(fields)[:80]}"
    bad = [name for name, part in fields.items() if not _is_plain(part, multi_select=multi_select)]
    return f"{bad[0]}: {str(fields[bad[0]])[:80]}" if bad else None


def _is_plain(part: Any, *, multi_select: bool) -> bool:
    if not isinstance(part, dict):
        return False
    if part.get("type") == "array":
        items = part.get("items")
        return multi_select and isinstance(items, dict) and bool({"enum", "anyOf", "oneOf"} & items.keys())
    return part.get("type") in PRIMITIVE


CREDENTIALS: Final = frozenset(
    {"access_token", "api_key", "apikey", "client_secret", "id_token", "password", "passwd", "refresh_token"}
)
"""Parameters that are credentials by name. Others, such as `state`, may be harmless numbers."""
ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]+")
DEVELOPMENT: Final = (".localhost", ".local", ".test", ".internal")


@check(
    "Elicitations in url mode are complete and safe",
    requirements=("EL-07", "EL-08", "EL-20", "EL-21", "EL-30", "EL-32"),
    everywhere=True,
)
def judge_url_mode(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ELICIT):
        if question.mode == "url":
            yield from _judge_url(question, with_id=trace.revision.elicitation_ids)
    for message in trace.received:
        if message.code == URL_REQUIRED:
            yield from _judge_required(message)


def _judge_url(question: Question, *, with_id: bool) -> Iterator[Observation]:
    required = ["message", "url", *(["elicitationId"] if with_id else [])]
    missing = [key for key in required if not isinstance(question.params.get(key), str)]
    expected = f"{', '.join(required)}, each a string"
    yield observe("EL-07", not missing, question, expected=expected, observed=f"no {', '.join(missing)}")
    url = question.params.get("url")
    if not isinstance(url, str):
        return
    parts = split_url(url)
    yield observe("EL-08", parts is not None, question, expected="a valid URL", observed=repr(url))
    if parts is None:
        return
    credentials = credentials_in(parts)
    expected = "no credentials in the URL"
    yield observe("EL-30", not credentials, question, expected=expected, observed=", ".join(credentials))
    if parts.scheme in ("http", "https"):
        safe = parts.scheme == "https" or _is_development(parts.hostname or "")
        yield observe("EL-32", safe, question, expected="an https URL", observed=parts.geturl())


def _judge_required(message: Message) -> Iterator[Observation]:
    data = message.error.get("data")
    listed: Any = data.get("elicitations") if isinstance(data, dict) else None
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    urls = [entry for entry in entries if entry.get("mode") == "url"]
    expected = "an elicitation in url mode, as this error requires"
    yield observe("EL-20", bool(urls), message, expected=expected, observed=f"{len(entries)} elicitations")
    with_ids = all(isinstance(entry.get("elicitationId"), str) for entry in urls)
    complete = isinstance(listed, list) and len(urls) == len(listed) and with_ids
    expected = "`data.elicitations`, each in url mode and with an `elicitationId`"
    yield observe("EL-21", complete, message, expected=expected, observed=str(listed)[:120])


def split_url(url: str) -> SplitResult | None:
    """The parts of a URL, or None if it is not valid."""
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    hosted = parts.scheme not in ("http", "https") or bool(parts.hostname)
    return parts if ABSOLUTE.fullmatch(url) and hosted and port_is_valid else None


def credentials_in(parts: SplitResult) -> list[str]:
    """The parts of a URL with which anyone who reads it can act as the user."""
    pairs = [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]
    names = [key for key, _ in pairs if key.lower() in CREDENTIALS]
    return [*names, *(["a password"] if parts.password else [])]


def _is_development(host: str) -> bool:
    if host == "localhost" or host.endswith(DEVELOPMENT):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


@check(
    "Completion notices name an elicitation of the same connection", requirements=("EL-17",), everywhere=True
)
def judge_completion_notice(trace: Trace) -> Iterator[Observation]:
    ids = [
        (question.frames[0], question.params.get("elicitationId")) for question in questions(trace, ELICIT)
    ]
    for notice in trace.received:
        if notice.method != COMPLETE:
            continue
        completed = notice.params.get("elicitationId")
        known = [
            name
            for frame, name in ids
            if frame.connection == notice.frame.connection and frame.n < notice.frame.n
        ]
        yield observe(
            "EL-17",
            isinstance(completed, str) and completed in known,
            notice,
            expected="the `elicitationId` of an earlier elicitation on this connection",
            observed=f"{completed!r}",
        )


@check("Answers that do not fit the form are refused", requirements=("EL-15",))
def judge_misfit(trace: Trace) -> Iterator[Observation]:
    for input_round in rounds_of(trace, ELICIT):
        misfits = _misfits(input_round)
        if not misfits:
            continue
        refused = _is_refusal(input_round.outcome)
        used = [name for name, value in misfits.items() if str(value) in str(input_round.outcome.result)]
        # A result without these values does not show whether the server used them.
        if refused or used:
            expected = "an answer that does not fit the form to be refused"
            observed = f"a result that contains the invalid {', '.join(used)}"
            yield observe("EL-15", refused, input_round, expected=expected, observed=observed)


def _misfits(input_round: Round) -> dict[str, Any]:
    """The values that break the schema of their field."""
    schema, content = input_round.question.params.get("requestedSchema"), input_round.answer.get("content")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(fields, dict) or not isinstance(content, dict):
        return {}
    return {name: value for name, value in content.items() if value_problem(value, fields.get(name, {}))}


def _is_refusal(outcome: Exchange) -> bool:
    result = outcome.result
    if result is None:
        return True
    return result.get("isError") is True or result.get("resultType") == "input_required"


@check("Users may decline and cancel", requirements=("EL-24",))
def judge_refusal(trace: Trace) -> Iterator[Observation]:
    for input_round in rounds_of(trace, ELICIT):
        action = input_round.answer.get("action")
        if action in ("decline", "cancel"):
            yield observe(
                "EL-24",
                input_round.outcome.code != INTERNAL_ERROR,
                input_round,
                expected=f"a reply that handles {action}",
                observed=input_round.outcome,
            )


# --- what the checks must catch


@on_question(ELICIT, "sends a form with an object as a field", breaks="EL-06", mode="form")
def nested_form(params: Json, context: FaultContext) -> None:
    address = {"type": "object", "properties": {"street": {"type": "string"}}}
    params["requestedSchema"]["properties"]["address"] = address


@on_question(ELICIT, "sends a form with a union with null as a field", breaks="EL-06", mode="form")
def optional_by_union(params: Json, context: FaultContext) -> None:
    optional = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    params["requestedSchema"]["properties"]["nickname"] = optional


@on_question(
    ELICIT, "leaves out the id of a page, or its URL where pages have no id", breaks="EL-07", mode="url"
)
def page_unnamed(params: Json, context: FaultContext) -> None:
    params.pop("elicitationId" if context.revision.elicitation_ids else "url")


LOGIN: Final = "First log in at https://assay.example/login, then enter your name"
QUESTION_EDITS: Final = (
    *edited_questions(
        ELICIT,
        ("asking.mode-dialog", "sends an elicitation with mode dialog", "EL-04", "mode", "dialog"),
        ("asking.no-message", "sends an elicitation without a message", "EL-04", "message", ABSENT),
        ("asking.no-schema", "sends a form without a schema", "EL-06", "requestedSchema", ABSENT),
    ),
    *edited_questions(
        ELICIT, ("asking.link-in-a-form", "sends a form with a link", "EL-31", "message", LOGIN), mode="form"
    ),
    *edited_questions(
        ELICIT,
        ("asking.page-path", "sends a path as the URL of a page", "EL-08", "url", "/connect?step=1"),
        (
            "asking.page-logged-in",
            "puts an access token into the URL of a page",
            "EL-30",
            "url",
            "https://assay.example/account?access_token=c2VjcmV0",
        ),
        (
            "asking.page-in-the-clear",
            "sends an http URL as a page",
            "EL-32",
            "url",
            "http://assay.example/visit",
        ),
        mode="url",
    ),
)


def _url_required(name: str, fault: str, breaks: str, *elicitations: Json) -> Saboteur:
    def change(reply: Json, context: FaultContext) -> Json:
        if context.method != "tools/call" or "error" in reply:
            return reply
        return error_reply(reply, URL_REQUIRED, "Open these pages first", elicitations=list(elicitations))

    saboteur: Saboteur = on_reply(fault, id=name, breaks=breaks)(change)
    return saboteur


FORM: Final = {
    "mode": "form",
    "message": "Your name?",
    "requestedSchema": {"type": "object", "properties": {}},
}
PAGE: Final = {"mode": "url", "message": "Please log in", "url": "https://assay.example/login"}
URL_REQUIRED_FAULTS: Final = (
    _url_required("asking.page-required-for-nothing", "sends -32042 without elicitations", "EL-20"),
    _url_required("asking.form-required", "lists a form in -32042", "EL-21", FORM),
    _url_required("asking.required-unnamed", "lists an elicitation without an id in -32042", "EL-21", PAGE),
)


@on_reply("reports the completion of another elicitation", breaks="EL-17")
def completes_another(reply: Json, context: FaultContext) -> Json:
    return {**reply, "params": {"elicitationId": "visit-1"}} if reply.get("method") == COMPLETE else reply


@on_reply("reports a completion without an id", breaks="EL-17")
def completes_something(reply: Json, context: FaultContext) -> Json:
    return {**reply, "params": {}} if reply.get("method") == COMPLETE else reply


def _repeat_content(reply: Json, context: FaultContext) -> Json:
    content = context.memory.pop("content", None)
    result = reply.get("result", {})
    refused = "error" in reply or bool(result.get("isError")) or "inputRequests" in result
    if content is None or "method" in reply or not refused:
        return reply
    text = ", ".join(f"{name}: {value}" for name, value in content.items())
    noted = {"content": [{"type": "text", "text": f"Noted: {text}"}], "resultType": "complete"}
    return result_reply(reply, noted)


@on_request("uses an answer that does not fit the form", breaks="EL-15", reply=_repeat_content)
def takes_any_answer(message: Json, context: FaultContext) -> Json:
    for answer in answers_in(message):
        if answer.get("content"):
            context.memory["content"] = answer["content"]
    return message


def _crash_on(action: str, name: str, fault: str) -> Saboteur:
    def change(reply: Json, context: FaultContext) -> Json:
        responses = context.params.get("inputResponses", {}).values()
        if not any(response.get("action") == action for response in responses):
            return reply
        return error_reply(reply, INTERNAL_ERROR, "'NoneType' object is not subscriptable")

    saboteur: Saboteur = on_reply(fault, id=name, breaks="EL-24")(change)
    return saboteur


CRASHES: Final = (
    _crash_on("cancel", "asking.cancelled-is-a-crash", "answers a cancelled elicitation with -32603"),
    _crash_on("decline", "asking.declined-is-a-crash", "answers a declined elicitation with -32603"),
)
