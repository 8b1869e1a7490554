"""Elicitation: which forms and URLs a server asks a user for, and how it ends the question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.driver.question import (
    ELICIT,
    URL_REQUIRED,
    Question,
    Round,
    answers_in,
    asked_in,
    questions,
    rounds_of,
)
from assay.lab.harness.need import A_PROMPT, A_READ_ONLY_TOOL, either
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR

from .question import ANOTHER_ASKING_TOOL, EVERYTHING, Interviewee, effective, harmless

# --- what is asked


@scenario(
    "Questions of other tools",
    exercises=(
        "asking.declared-only",
        "asking.elicitation",
        "asking.url-mode",
        "asking.completion-notice",
        "asking.sampling",
        "asking.misfit",
        "asking.refusal",
    ),
    needs=(ANOTHER_ASKING_TOOL,),
    effects=True,
)
async def drive_other_tools(stage: Stage) -> None:
    peer = await stage.open(**EVERYTHING)
    interviewee = Interviewee(peer)
    for ask in effective(peer, stage.facts):
        await interviewee.sit_through(ask)


@scenario(
    "Questions of prompts and of tools that only read",
    exercises=(
        "asking.declared-only",
        "asking.elicitation",
        "asking.url-mode",
        "asking.completion-notice",
        "asking.sampling",
        "asking.misfit",
        "asking.refusal",
    ),
    needs=(either(A_READ_ONLY_TOOL, A_PROMPT),),
)
async def drive_read_only(stage: Stage) -> None:
    peer = await stage.open(**EVERYTHING)
    interviewee = Interviewee(peer)
    for ask in harmless(peer, stage.facts):
        await interviewee.sit_through(ask)


# --- how it is judged


MODES: Final = ("form", "url")
PRIMITIVE: Final = ("string", "number", "integer", "boolean")
LINK: Final = re.compile(r"\bhttps?://", re.IGNORECASE)


@check("Elicitations are complete, and forms are flat", requirements=("EL-04", "EL-06", "EL-31"))
def judge_elicitation(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ELICIT):
        message = question.params.get("message")
        yield observe(
            "EL-04",
            isinstance(message, str) and question.mode in MODES,
            question,
            expected="a `message`, and for `mode` form or url",
            observed=f"message {message!r}, mode {question.mode!r}",
        )
        if question.mode == "form":
            yield from _form(question, several=trace.revision.multi_select)


def _form(question: Question, *, several: bool) -> Iterator[Observation]:
    schema = question.params.get("requestedSchema")
    problem = form_problem(schema, several=several)
    expected = "a `requestedSchema` of one flat object with plain fields"
    yield observe("EL-06", problem is None, question, expected=expected, observed=problem)
    texts = [question.params.get("message"), schema.get("title") if isinstance(schema, dict) else None]
    links = [text for text in texts if isinstance(text, str) and LINK.search(text)]
    expected = "no link in a form: for pages there is the url mode"
    yield observe("EL-31", not links, question, expected=expected, observed=", ".join(links))


def form_problem(schema: Any, *, several: bool) -> str | None:
    """Why a schema is no form; `several` if a field may take more than one of the values it offers."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"requestedSchema {str(schema)[:80]}"
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return f"properties {str(fields)[:80]}"
    bad = [name for name, part in fields.items() if not _is_plain(part, several=several)]
    return f"{bad[0]}: {str(fields[bad[0]])[:80]}" if bad else None


def _is_plain(part: Any, *, several: bool) -> bool:
    if not isinstance(part, dict):
        return False
    if part.get("type") == "array":
        items = part.get("items")
        return several and isinstance(items, dict) and bool({"enum", "anyOf", "oneOf"} & items.keys())
    return part.get("type") in PRIMITIVE


SECRETS: Final = frozenset(
    {"access_token", "api_key", "apikey", "client_secret", "id_token", "password", "passwd", "refresh_token"}
)
"""Parameters that are credentials by their name; an opaque one may be a mere number."""
ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]+")
DEVELOPMENT: Final = (".localhost", ".local", ".test", ".internal")


@check(
    "Elicitations in url mode are complete and safe",
    requirements=("EL-07", "EL-08", "EL-20", "EL-21", "EL-30", "EL-32"),
)
def judge_url_mode(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ELICIT):
        if question.mode == "url":
            yield from _asked(question, named=trace.revision.elicitation_ids)
    for message in trace.received:
        if message.code == URL_REQUIRED:
            yield from _required(message)


def _asked(question: Question, *, named: bool) -> Iterator[Observation]:
    wanted = ["message", "url", *(["elicitationId"] if named else [])]
    missing = [key for key in wanted if not isinstance(question.params.get(key), str)]
    expected = f"{', '.join(wanted)}, each a text"
    yield observe("EL-07", not missing, question, expected=expected, observed=f"no {', '.join(missing)}")
    url = question.params.get("url")
    if isinstance(url, str):
        parts = split(url)
        yield observe("EL-08", parts is not None, question, expected="a valid URL", observed=repr(url))
        if parts is not None:
            yield from _safe(parts, question)


def _safe(parts: SplitResult, question: Question) -> Iterator[Observation]:
    secrets = given_away(parts)
    expected = "no credentials in the URL"
    yield observe("EL-30", not secrets, question, expected=expected, observed=", ".join(secrets))
    if parts.scheme in ("http", "https"):
        safe = parts.scheme == "https" or _is_development(parts.hostname or "")
        yield observe("EL-32", safe, question, expected="an https URL", observed=parts.geturl())


def _required(message: Message) -> Iterator[Observation]:
    """The error that says which pages must be visited first."""
    data = message.error.get("data")
    listed: Any = data.get("elicitations") if isinstance(data, dict) else None
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    urls = [one for one in entries if one.get("mode") == "url"]
    expected = "this error only where a page must be visited"
    yield observe("EL-20", bool(urls), message, expected=expected, observed=f"{len(entries)} elicitations")
    named = all(isinstance(one.get("elicitationId"), str) for one in urls)
    complete = isinstance(listed, list) and len(urls) == len(listed) and named
    expected = "`data.elicitations`, each in url mode and with an `elicitationId`"
    yield observe("EL-21", complete, message, expected=expected, observed=str(listed)[:120])


def split(url: str) -> SplitResult | None:
    """The parts of a URL; none where it is not a valid one."""
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    hosted = parts.scheme not in ("http", "https") or bool(parts.hostname)
    return parts if ABSOLUTE.fullmatch(url) and hosted and port_is_valid else None


def given_away(parts: SplitResult) -> list[str]:
    """What in a URL lets whoever reads it pass for somebody else."""
    pairs = [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]
    named = [key for key, _ in pairs if key.lower() in SECRETS]
    return [*named, *(["a password"] if parts.password else [])]


def _is_development(host: str) -> bool:
    if host == "localhost" or host.endswith(DEVELOPMENT):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


COMPLETE = "notifications/elicitation/complete"


@check("The end of an elicitation is told to who was asked", requirements=("EL-17",))
def judge_completion_notice(trace: Trace) -> Iterator[Observation]:
    asked = [(one.frames[0], one.params.get("elicitationId")) for one in questions(trace, ELICIT)]
    for notice in trace.received:
        if notice.method != COMPLETE:
            continue
        told = notice.params.get("elicitationId")
        known = [
            name
            for frame, name in asked
            if frame.connection == notice.frame.connection and frame.n < notice.frame.n
        ]
        yield observe(
            "EL-17",
            isinstance(told, str) and told in known,
            notice,
            expected="the `elicitationId` of an elicitation that was asked for on this connection",
            observed=f"{told!r}",
        )


@check("Answers that do not fit the form are not used", requirements=("EL-15",))
def judge_misfit(trace: Trace) -> Iterator[Observation]:
    for one in rounds_of(trace, ELICIT):
        wrong = _wrong(one)
        if not wrong:
            continue
        refused = _is_refusal(one.outcome)
        used = [name for name, value in wrong.items() if str(value) in str(one.outcome.result)]
        # A result without these values may come from a server that went on without them.
        if refused or used:
            yield observe(
                "EL-15",
                refused,
                one,
                expected="an answer that does not fit the form to be refused",
                observed=f"a result that holds the wrong {', '.join(used)}",
            )


def _wrong(one: Round) -> dict[str, Any]:
    """The values that their fields refuse."""
    schema, content = one.question.params.get("requestedSchema"), one.answer.get("content")
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
    for one in rounds_of(trace, ELICIT):
        if one.answer.get("action") in ("decline", "cancel"):
            yield observe(
                "EL-24",
                one.outcome.code != INTERNAL_ERROR,
                one,
                expected=f"an answer that takes {one.answer['action']} into account",
                observed=one.outcome,
            )


# --- what the checks must catch


@on_reply("an elicitation has mode dialog", breaks="EL-04")
def mode_dialog(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["mode"] = "dialog"
    return reply


@on_reply("an elicitation has no message", breaks="EL-04")
def no_message(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params.pop("message")
    return reply


@on_reply("a field of a form is an object", breaks="EL-06")
def nested_form(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        address = {"type": "object", "properties": {"street": {"type": "string"}}}
        params.get("requestedSchema", {}).get("properties", {})["address"] = address
    return reply


@on_reply("a form has no schema", breaks="EL-06")
def no_schema(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params.pop("requestedSchema", None)
    return reply


@on_reply("a field of a form is a union with null", breaks="EL-06")
def optional_by_union(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        optional = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
        params.get("requestedSchema", {}).get("properties", {})["nickname"] = optional
    return reply


@on_reply("a form holds a link", breaks="EL-31")
def link_in_a_form(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if "requestedSchema" in params:
            params["message"] = "First log in at https://assay.example/login, then tell us your name"
    return reply


@on_reply("an elicitation in url mode lacks its url, or its id where it has one", breaks="EL-07")
def page_unnamed(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params.pop("elicitationId" if context.revision.elicitation_ids else "url")
    return reply


@on_reply("the url of an elicitation is a path", breaks="EL-08")
def page_path(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params["url"] = "/connect?step=1"
    return reply


LISTED: list[Json] = []


@on_reply("-32042 is sent where no page must be visited", breaks="EL-20")
def page_required_for_nothing(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" in reply:
        return reply
    error = {"code": URL_REQUIRED, "message": "please come back later", "data": {"elicitations": LISTED}}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


FORM_REQUIRED_LISTED: list[Json] = [
    {"mode": "form", "message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}
]


@on_reply("-32042 lists an elicitation in form mode", breaks="EL-21")
def form_required(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" in reply:
        return reply
    error = {
        "code": URL_REQUIRED,
        "message": "please come back later",
        "data": {"elicitations": FORM_REQUIRED_LISTED},
    }
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


REQUIRED_UNNAMED_LISTED: list[Json] = [
    {"mode": "url", "message": "Please log in", "url": "https://assay.example/login"}
]


@on_reply("-32042 lists an elicitation without an id", breaks="EL-21")
def required_unnamed(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" in reply:
        return reply
    error = {
        "code": URL_REQUIRED,
        "message": "please come back later",
        "data": {"elicitations": REQUIRED_UNNAMED_LISTED},
    }
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


@on_reply("the url of an elicitation holds an access token", breaks="EL-30")
def page_logged_in(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params["url"] = "https://assay.example/account?access_token=c2VjcmV0"
    return reply


@on_reply("the url of an elicitation is http", breaks="EL-32")
def page_in_the_clear(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params["url"] = "http://assay.example/visit"
    return reply


@on_reply("the end of an elicitation names another one", breaks="EL-17")
def completes_another(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/elicitation/complete":
        reply["params"]["elicitationId"] = "visit-1"
    return reply


@on_reply("the end of an elicitation does not say of which", breaks="EL-17")
def completes_something(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/elicitation/complete":
        reply["params"] = {}
    return reply


def reply(reply: Json, context: FaultContext) -> Json:
    content = context.memory.pop("content", None)
    if content is None or "method" in reply or not _takes_any_answer_is_refusal(reply):
        return reply
    text = ", ".join(f"{name}: {value}" for name, value in content.items())
    result = {"content": [{"type": "text", "text": f"Noted: {text}"}], "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


def _takes_any_answer_is_refusal(reply: Json) -> bool:
    result = reply.get("result", {})
    return "error" in reply or bool(result.get("isError")) or "inputRequests" in result


@on_request("an answer that does not fit the form is used", breaks="EL-15", reply=reply)
def takes_any_answer(message: Json, context: FaultContext) -> Json:
    for answer in answers_in(message):
        if answer.get("content"):
            context.memory["content"] = answer["content"]
    return message


@on_reply("a user who cancels leads to error -32603", breaks="EL-24")
def cancelled_is_a_crash(reply: Json, context: FaultContext) -> Json:
    given = context.params.get("inputResponses", {})
    if not any(answer.get("action") == "cancel" for answer in given.values()):
        return reply
    error = {"code": INTERNAL_ERROR, "message": "unreachable: unknown action"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


@on_reply("a user who declines leads to error -32603", breaks="EL-24")
def declined_is_a_crash(reply: Json, context: FaultContext) -> Json:
    given = context.params.get("inputResponses", {})
    if not any(answer.get("action") == "decline" for answer in given.values()):
        return reply
    error = {"code": INTERNAL_ERROR, "message": "'NoneType' object is not subscriptable"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
