"""Fixture tools that ask the client: forms with defaults and enums, elicitation, sampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    observe,
    on_reply,
    on_request,
    on_result,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import ELICIT, SAMPLE, Round, question_params, rounds_of
from assay.lab.harness.driver.server_stream import open_server_stream
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.asking.question import accept, decline

from .content import blocks_problem, call_problem, text_problem
from .declaration import official_check, official_scenario
from .evidence import answered
from .fixture import fixture_tool, tool_of

Part = dict[str, Any]


class Field(Struct, frozen=True):
    name: str
    fits: Callable[[Part], bool]
    expected: str


def answer_forms(peer: Peer, answer: Callable[[Any], dict[str, Any]] = accept) -> None:
    """Let the driver answer every form so; it accepts them, with what their fields suggest, unless told."""
    peer.responders[ELICIT] = lambda params: {"result": answer(params.get("requestedSchema"))}


def judge_form(trace: Trace, tool: str, general: str, fields: Mapping[str, Field]) -> Iterator[Observation]:
    """A call shows a form, and each row's field is in it as expected."""
    for exchange, rounds in asking_calls(trace, tool, ELICIT):
        shown = [parts for one in rounds if (parts := _parts(one.question.params)) is not None]
        expected = f"{ELICIT} with a form"
        yield observe(
            general, bool(shown), exchange, *rounds, expected=expected, observed=f"none: {exchange}"
        )
        for row, field in fields.items() if shown else ():
            part = shown[0].get(field.name)
            holds = isinstance(part, dict) and field.fits(part)
            expected = f"`{field.name}`: {field.expected}"
            yield observe(row, holds, exchange, *rounds, expected=expected, observed=f"{part!r}")


def _parts(params: Part) -> Part | None:
    schema = params.get("requestedSchema")
    parts = schema.get("properties") if isinstance(schema, dict) else None
    return parts if isinstance(parts, dict) else None


def asking_calls(trace: Trace, tool: str, method: str) -> Iterator[tuple[Exchange, list[Round]]]:
    """Every answered call of a tool, and its questions of one method."""
    rounds = list(rounds_of(trace, method))
    for exchange in answered(trace, "tools/call", name=tool):
        yield exchange, [one for one in rounds if one.outcome.request is exchange.request]


# --- what is asked


TOOL = "test_elicitation_sep1034_defaults"


@official_scenario("elicitation-sep1034-defaults", "A form with default values", needs=(fixture_tool(TOOL),))
async def drive_elicitation_sep1034_defaults(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    await open_server_stream(stage, peer)
    answer_forms(peer)
    await peer.call(tool_of(stage.facts, TOOL), {})


ELICITATION_SEP1330_ENUMS_TOOL = "test_elicitation_sep1330_enums"


@official_scenario(
    "elicitation-sep1330-enums",
    "A form with every kind of choice",
    needs=(fixture_tool(ELICITATION_SEP1330_ENUMS_TOOL),),
)
async def drive_elicitation_sep1330_enums(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    await open_server_stream(stage, peer)
    answer_forms(peer)
    await peer.call(tool_of(stage.facts, ELICITATION_SEP1330_ENUMS_TOOL), {})


TOOLS_CALL_ELICITATION_TOOL = "test_elicitation"
MESSAGE = "Please provide your information, says the lab"


@official_scenario(
    "tools-call-elicitation", "A tool asks the user", needs=(fixture_tool(TOOLS_CALL_ELICITATION_TOOL),)
)
async def drive_tools_call_elicitation(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    await open_server_stream(stage, peer)
    for answer in (accept, decline):
        answer_forms(peer, answer)
        await peer.call(tool_of(stage.facts, TOOLS_CALL_ELICITATION_TOOL), {"message": MESSAGE})


TOOLS_CALL_SAMPLING_TOOL = "test_sampling"


@official_scenario(
    "tools-call-sampling", "A tool asks the client's model", needs=(fixture_tool(TOOLS_CALL_SAMPLING_TOOL),)
)
async def drive_tools_call_sampling(stage: Stage) -> None:
    peer = await stage.open(sampling={})
    await open_server_stream(stage, peer)
    await peer.call(
        tool_of(stage.facts, TOOLS_CALL_SAMPLING_TOOL), {"prompt": "Test prompt for sampling, of the lab"}
    )


# --- how it is judged


NAME: Final = "elicitation-sep1034"
STATUS: Final = ("active", "inactive", "pending")


def _suggests(kind: str, default: Any, part: Part) -> bool:
    given = part.get("default")
    # In Python True is 1; in JSON it is not.
    same = given == default and isinstance(given, bool) is isinstance(default, bool)
    return part.get("type") == kind and same


def _offers(part: Part) -> bool:
    offered = part.get("enum")
    known = isinstance(offered, list) and all(one in offered for one in STATUS)
    return known and _suggests("string", "active", part)


def _field(name: str, kind: str, default: Any) -> Field:
    return Field(name, partial(_suggests, kind, default), f"type {kind}, default {default!r}")


FIELDS: Final = {
    f"{NAME}-string-default": _field("name", "string", "John Doe"),
    f"{NAME}-integer-default": _field("age", "integer", 30),
    f"{NAME}-number-default": _field("score", "number", 95.5),
    f"{NAME}-enum-default": Field("status", _offers, f"enum {', '.join(STATUS)}, default 'active'"),
    f"{NAME}-boolean-default": _field("verified", "boolean", True),
}


@official_check(
    f"{NAME}-defaults", "A form's fields have default values", requirements=(f"{NAME}-general", *FIELDS)
)
def judge_elicitation_sep1034_defaults(trace: Trace) -> Iterator[Observation]:
    yield from judge_form(trace, "test_elicitation_sep1034_defaults", f"{NAME}-general", FIELDS)


ELICITATION_SEP1330_ENUMS_NAME: Final = "elicitation-sep1330"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _titled(value: Any) -> bool:
    """A list of `{const, title}`, both texts."""
    options = value if isinstance(value, list) else []
    return bool(options) and all(
        isinstance(one, dict) and isinstance(one.get("const"), str) and isinstance(one.get("title"), str)
        for one in options
    )


def _items(part: Part) -> Part:
    items = part.get("items")
    return items if part.get("type") == "array" and isinstance(items, dict) else {}


def _untitled_single(part: Part) -> bool:
    return (
        part.get("type") == "string" and _texts(part.get("enum")) and not {"oneOf", "enumNames"} & part.keys()
    )


def _titled_single(part: Part) -> bool:
    return part.get("type") == "string" and _titled(part.get("oneOf")) and "enum" not in part


def _named_beside(part: Part) -> bool:
    values, names = part.get("enum"), part.get("enumNames")
    both = _texts(values) and _texts(names) and len(values or ()) == len(names or ())
    return part.get("type") == "string" and both


def _untitled_multi(part: Part) -> bool:
    items = _items(part)
    return items.get("type") == "string" and _texts(items.get("enum")) and "anyOf" not in items


def _titled_multi(part: Part) -> bool:
    items = _items(part)
    return _titled(items.get("anyOf")) and "enum" not in items


ELICITATION_SEP1330_ENUMS_FIELDS: Final = {
    f"{ELICITATION_SEP1330_ENUMS_NAME}-untitled-single": Field(
        "untitledSingle", _untitled_single, "a string with `enum`"
    ),
    f"{ELICITATION_SEP1330_ENUMS_NAME}-titled-single": Field(
        "titledSingle", _titled_single, "a string with `oneOf` of const and title"
    ),
    f"{ELICITATION_SEP1330_ENUMS_NAME}-legacy-enumnames": Field(
        "legacyEnum", _named_beside, "a string with `enum` and as many `enumNames`"
    ),
    f"{ELICITATION_SEP1330_ENUMS_NAME}-untitled-multi": Field(
        "untitledMulti", _untitled_multi, "an array of strings with `enum`"
    ),
    f"{ELICITATION_SEP1330_ENUMS_NAME}-titled-multi": Field(
        "titledMulti", _titled_multi, "an array with `anyOf` of const and title"
    ),
}


@official_check(
    f"{ELICITATION_SEP1330_ENUMS_NAME}-enums",
    "A form offers choices in every way",
    requirements=(f"{ELICITATION_SEP1330_ENUMS_NAME}-general", *ELICITATION_SEP1330_ENUMS_FIELDS),
)
def judge_elicitation_sep1330_enums(trace: Trace) -> Iterator[Observation]:
    yield from judge_form(
        trace,
        "test_elicitation_sep1330_enums",
        f"{ELICITATION_SEP1330_ENUMS_NAME}-general",
        ELICITATION_SEP1330_ENUMS_FIELDS,
    )


@official_check("tools-call-elicitation", "A tool asks the user")
def judge_tools_call_elicitation(trace: Trace) -> Iterator[Observation]:
    outcomes: dict[str, Exchange] = {}
    for exchange, rounds in asking_calls(trace, "test_elicitation", ELICIT):
        problem = _problem(exchange, rounds)
        expected = f"{ELICIT} with the message that was given and a form, and a result with a text"
        yield observe(
            "tools-call-elicitation", problem is None, exchange, *rounds, expected=expected, observed=problem
        )
        if problem is None:
            outcomes[str(rounds[0].answer.get("action"))] = exchange
    if {"accept", "decline"} <= outcomes.keys():
        one, other = outcomes["accept"], outcomes["decline"]
        differs = one.items("content") != other.items("content")
        expected = "a result that depends on whether the user accepts or declines"
        yield observe(
            "tools-call-elicitation",
            differs,
            one,
            other,
            expected=expected,
            observed="the same content for both",
        )


def _problem(exchange: Exchange, rounds: list[Round]) -> str | None:
    if not rounds:
        return f"no {ELICIT}, and {exchange}"
    asked, given = rounds[0].question.params, exchange.params.get("arguments")
    message = given.get("message") if isinstance(given, dict) else None
    if asked.get("message") != message:
        return f"asked with the message {asked.get('message')!r}"
    if not _is_form(asked.get("requestedSchema")):
        return f"asked with the form {asked.get('requestedSchema')!r}"
    if exchange.result is None:
        return str(exchange)
    return blocks_problem(exchange.objects("content"), {"text": text_problem})


def _is_form(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("properties"), dict)


@official_check("tools-call-sampling", "A tool asks the client's model")
def judge_tools_call_sampling(trace: Trace) -> Iterator[Observation]:
    for exchange, rounds in asking_calls(trace, "test_sampling", SAMPLE):
        problem = _tools_call_sampling_problem(exchange, rounds)
        expected = f"{SAMPLE} with the prompt that was given, and a result with what the model said"
        yield observe(
            "tools-call-sampling", problem is None, exchange, *rounds, expected=expected, observed=problem
        )


def _tools_call_sampling_problem(exchange: Exchange, rounds: list[Round]) -> str | None:
    if not rounds:
        return f"no {SAMPLE}, and {exchange}"
    asked, said = rounds[0].question.params.get("messages"), _said(rounds[0].answer)
    prompt = _object(exchange.params.get("arguments")).get("prompt")
    if str(prompt) not in str(asked):
        return f"asked with {asked!r}"
    blocks = exchange.objects("content")
    problem = call_problem(exchange) or blocks_problem(blocks, {"text": text_problem})
    return problem or (None if said in str(blocks) else f"{blocks!r}, without {said!r}")


def _said(answer: dict[str, Any]) -> str:
    return str(_object(answer.get("content")).get("text"))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# --- what the checks must catch


@on_reply("a boolean's default is a number", breaks="elicitation-sep1034-boolean-default")
def boolean_default_as_number(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["verified"]["default"] = 1
    return reply


@on_reply("an enum's default is not among its values", breaks="elicitation-sep1034-enum-default")
def default_not_offered(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["status"]["default"] = "unknown"
    return reply


@on_request("a tool that should show a form shows none", breaks="elicitation-sep1034-general")
def defaults_unasked(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "tools/call":
        return message
    result = {"content": [{"type": "text", "text": "Elicitation completed"}]}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": result}])


@on_reply("an integer's default is a text", breaks="elicitation-sep1034-integer-default")
def integer_default_as_text(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["age"]["default"] = "30"
    return reply


@on_reply("a number's default is rounded", breaks="elicitation-sep1034-number-default")
def number_default_rounded(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["score"]["default"] = 95
    return reply


@on_reply("a string has no default", breaks="elicitation-sep1034-string-default")
def text_without_default(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["name"].pop("default")
    return reply


@on_request("a tool that should offer choices offers none", breaks="elicitation-sep1330-general")
def choices_unasked(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "tools/call":
        return message
    result = {"content": [{"type": "text", "text": "Elicitation completed"}]}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": result}])


@on_reply("a choice has fewer names than values", breaks="elicitation-sep1330-legacy-enumnames")
def names_too_few(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["legacyEnum"]["enumNames"].pop()
    return reply


@on_reply("a titled multiple choice has no titles", breaks="elicitation-sep1330-titled-multi")
def several_untitled(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["titledMulti"]["items"] = {
            "type": "string",
            "enum": ["value1", "value2", "value3"],
        }
    return reply


@on_reply("a titled choice has no titles", breaks="elicitation-sep1330-titled-single")
def titles_dropped(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["titledSingle"]["oneOf"] = [
            {"const": one["const"]}
            for one in params["requestedSchema"]["properties"]["titledSingle"]["oneOf"]
        ]
    return reply


@on_reply("a multiple choice is a string", breaks="elicitation-sep1330-untitled-multi")
def several_as_one(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["untitledMulti"]["type"] = "string"
    return reply


@on_reply("an untitled choice has `enumNames`", breaks="elicitation-sep1330-untitled-single")
def single_choice_named(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["requestedSchema"]["properties"]["untitledSingle"]["enumNames"] = ["One", "Two", "Three"]
    return reply


@on_result("declining is the same as accepting", breaks="tools-call-elicitation", name="test_elicitation")
def answer_makes_no_difference(result: Json, context: FaultContext) -> None:
    result["content"] = [{"type": "text", "text": "Thank you"}]


@on_reply("elicitation does not show the message that was given", breaks="tools-call-elicitation")
def message_of_its_own(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["message"] = "Who are you?"
    return reply


@on_request("a tool that should ask the model asks nobody", breaks="tools-call-sampling")
def model_not_asked(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "tools/call":
        return message
    result = {"content": [{"type": "text", "text": "LLM response: I know"}]}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": result}])


@on_result(
    "what the model said does not reach the result", breaks="tools-call-sampling", name="test_sampling"
)
def model_unheard(result: Json, context: FaultContext) -> None:
    result["content"] = [{"type": "text", "text": "LLM response: none"}]


@on_reply("sampling does not ask with the prompt that was given", breaks="tools-call-sampling")
def prompt_of_its_own(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, SAMPLE):
        params["messages"][0]["content"]["text"] = "Say something"
    return reply
