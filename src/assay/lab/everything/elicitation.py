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
    result_reply,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import ELICIT, SAMPLE, Round, question_params, rounds_of
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.sabotage.saboteur import LocalAnswer, OnReply, OnRequest
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.asking.question import accept, decline
from assay.lab.suite.evidence import answered
from assay.lab.suite.self_description import as_object

from .content import blocks_problem, call_problem, text_problem
from .declaration import official_check, official_scenario
from .fixture import fixture_tool, tool_of

Schema = dict[str, Any]


class Field(Struct, frozen=True):
    name: str
    fits: Callable[[Schema], bool]
    expected: str


def answer_forms(peer: Peer, answer: Callable[[Any], dict[str, Any]] = accept) -> None:
    """Let the driver answer every form; by default it accepts, with the values that the fields suggest."""
    peer.responders[ELICIT] = lambda params: {"result": answer(params.get("requestedSchema"))}


def judge_form(trace: Trace, tool: str, general: str, fields: Mapping[str, Field]) -> Iterator[Observation]:
    """A call shows a form, with the expected field for each requirement."""
    for exchange, rounds in asking_calls(trace, tool, ELICIT):
        schemas = (form.question.params.get("requestedSchema") for form in rounds)
        forms = [as_object(schema).get("properties") for schema in schemas]
        form = next((properties for properties in forms if isinstance(properties, dict)), None)
        yield observe(
            general,
            form is not None,
            exchange,
            *rounds,
            expected=f"{ELICIT} with a form",
            observed=f"none: {exchange}",
        )
        for requirement, field in fields.items() if form is not None else ():
            schema = as_object(form).get(field.name)
            holds = isinstance(schema, dict) and field.fits(schema)
            expected = f"`{field.name}`: {field.expected}"
            yield observe(requirement, holds, exchange, *rounds, expected=expected, observed=f"{schema!r}")


def asking_calls(trace: Trace, tool: str, method: str) -> Iterator[tuple[Exchange, list[Round]]]:
    """Every answered call of a tool, with its questions of a method."""
    rounds = list(rounds_of(trace, method))
    for exchange in answered(trace, "tools/call", name=tool):
        yield exchange, [answer for answer in rounds if answer.outcome.request is exchange.request]


# --- what is asked


DEFAULTS, ENUMS = "elicitation-sep1034", "elicitation-sep1330"


def _show_form(name: str, title: str, tool: str) -> Scenario:
    async def drive(stage: Stage) -> None:
        peer = await stage.open(elicitation={})
        await open_server_stream(stage, peer)
        answer_forms(peer)
        await peer.call(tool_of(stage.facts, tool), {})

    return official_scenario(name, title, needs=(fixture_tool(tool),))(drive)


SCENARIOS: Final = (
    _show_form(
        f"{DEFAULTS}-defaults", "Fill in a form with default values", "test_elicitation_sep1034_defaults"
    ),
    _show_form(
        f"{ENUMS}-enums", "Fill in a form with every kind of choice", "test_elicitation_sep1330_enums"
    ),
)


MESSAGE = "Please provide your information, says the lab"


@official_scenario(
    "tools-call-elicitation", "Accept and decline a form of a tool", needs=(fixture_tool("test_elicitation"),)
)
async def drive_tools_call_elicitation(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    await open_server_stream(stage, peer)
    for answer in (accept, decline):
        answer_forms(peer, answer)
        await peer.call(tool_of(stage.facts, "test_elicitation"), {"message": MESSAGE})


@official_scenario(
    "tools-call-sampling", "Call a tool that requests sampling", needs=(fixture_tool("test_sampling"),)
)
async def drive_tools_call_sampling(stage: Stage) -> None:
    peer = await stage.open(sampling={})
    await open_server_stream(stage, peer)
    await peer.call(tool_of(stage.facts, "test_sampling"), {"prompt": "Test prompt for sampling, of the lab"})


# --- how it is judged


STATUS: Final = ("active", "inactive", "pending")


def _suggests(kind: str, default: Any, schema: Schema) -> bool:
    actual = schema.get("default")
    # In Python, True equals 1; in JSON it does not.
    same = actual == default and isinstance(actual, bool) is isinstance(default, bool)
    return schema.get("type") == kind and same


def _offers(schema: Schema) -> bool:
    values = schema.get("enum")
    known = isinstance(values, list) and all(status in values for status in STATUS)
    return known and _suggests("string", "active", schema)


def _field(name: str, kind: str, default: Any) -> Field:
    return Field(name, partial(_suggests, kind, default), f"type {kind}, default {default!r}")


DEFAULT_FIELDS: Final = {
    f"{DEFAULTS}-string-default": _field("name", "string", "John Doe"),
    f"{DEFAULTS}-integer-default": _field("age", "integer", 30),
    f"{DEFAULTS}-number-default": _field("score", "number", 95.5),
    f"{DEFAULTS}-enum-default": Field("status", _offers, f"enum {', '.join(STATUS)}, default 'active'"),
    f"{DEFAULTS}-boolean-default": _field("verified", "boolean", True),
}


@official_check(
    f"{DEFAULTS}-defaults",
    "Fields of a form have default values",
    requirements=(f"{DEFAULTS}-general", *DEFAULT_FIELDS),
)
def judge_elicitation_sep1034_defaults(trace: Trace) -> Iterator[Observation]:
    yield from judge_form(trace, "test_elicitation_sep1034_defaults", f"{DEFAULTS}-general", DEFAULT_FIELDS)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _titled(value: Any) -> bool:
    """A list of `{const, title}`, both texts."""
    options = value if isinstance(value, list) else []
    return bool(options) and all(
        isinstance(as_object(option).get(key), str) for option in options for key in ("const", "title")
    )


def _items(schema: Schema) -> Schema:
    return as_object(schema.get("items")) if schema.get("type") == "array" else {}


def _untitled_single(schema: Schema) -> bool:
    untitled = not {"oneOf", "enumNames"} & schema.keys()
    return schema.get("type") == "string" and _texts(schema.get("enum")) and untitled


def _titled_single(schema: Schema) -> bool:
    return schema.get("type") == "string" and _titled(schema.get("oneOf")) and "enum" not in schema


def _named_beside(schema: Schema) -> bool:
    values, names = schema.get("enum"), schema.get("enumNames")
    both = _texts(values) and _texts(names) and len(values or ()) == len(names or ())
    return schema.get("type") == "string" and both


def _untitled_multi(schema: Schema) -> bool:
    items = _items(schema)
    return items.get("type") == "string" and _texts(items.get("enum")) and "anyOf" not in items


def _titled_multi(schema: Schema) -> bool:
    items = _items(schema)
    return _titled(items.get("anyOf")) and "enum" not in items


ENUM_FIELDS: Final = {
    f"{ENUMS}-untitled-single": Field("untitledSingle", _untitled_single, "a string with `enum`"),
    f"{ENUMS}-titled-single": Field(
        "titledSingle", _titled_single, "a string with `oneOf` of const and title"
    ),
    f"{ENUMS}-legacy-enumnames": Field(
        "legacyEnum", _named_beside, "a string with `enum` and as many `enumNames`"
    ),
    f"{ENUMS}-untitled-multi": Field("untitledMulti", _untitled_multi, "an array of strings with `enum`"),
    f"{ENUMS}-titled-multi": Field("titledMulti", _titled_multi, "an array with `anyOf` of const and title"),
}


@official_check(
    f"{ENUMS}-enums", "A form offers choices in every way", requirements=(f"{ENUMS}-general", *ENUM_FIELDS)
)
def judge_elicitation_sep1330_enums(trace: Trace) -> Iterator[Observation]:
    yield from judge_form(trace, "test_elicitation_sep1330_enums", f"{ENUMS}-general", ENUM_FIELDS)


@official_check("tools-call-elicitation", "A tool elicits input and uses the answer")
def judge_tools_call_elicitation(trace: Trace) -> Iterator[Observation]:
    requirement = "tools-call-elicitation"
    outcomes: dict[str, Exchange] = {}
    for exchange, rounds in asking_calls(trace, "test_elicitation", ELICIT):
        problem = _elicitation_problem(exchange, rounds)
        expected = f"{ELICIT} with the message of the call and a form, and a result with a text"
        holds = problem is None
        yield observe(requirement, holds, exchange, *rounds, expected=expected, observed=problem)
        if problem is None:
            outcomes[str(rounds[0].answer.get("action"))] = exchange
    if {"accept", "decline"} <= outcomes.keys():
        accepted, declined = outcomes["accept"], outcomes["decline"]
        differs = accepted.items("content") != declined.items("content")
        expected = "a result that depends on whether the user accepts or declines"
        observed = "the same content for both"
        yield observe(requirement, differs, accepted, declined, expected=expected, observed=observed)


def _elicitation_problem(exchange: Exchange, rounds: list[Round]) -> str | None:
    if not rounds:
        return f"no {ELICIT}, and {exchange}"
    params = rounds[0].question.params
    message, schema = params.get("message"), params.get("requestedSchema")
    if message != as_object(exchange.params.get("arguments")).get("message"):
        return f"the message {message!r}"
    if not isinstance(as_object(schema).get("properties"), dict):
        return f"the form {schema!r}"
    if exchange.result is None:
        return str(exchange)
    return blocks_problem(exchange.objects("content"), {"text": text_problem})


@official_check("tools-call-sampling", "A tool samples the client's model and uses the answer")
def judge_tools_call_sampling(trace: Trace) -> Iterator[Observation]:
    for exchange, rounds in asking_calls(trace, "test_sampling", SAMPLE):
        problem = _sampling_problem(exchange, rounds)
        expected = f"{SAMPLE} with the prompt of the call, and a result with the answer of the model"
        holds = problem is None
        yield observe("tools-call-sampling", holds, exchange, *rounds, expected=expected, observed=problem)


def _sampling_problem(exchange: Exchange, rounds: list[Round]) -> str | None:
    if not rounds:
        return f"no {SAMPLE}, and {exchange}"
    messages = rounds[0].question.params.get("messages")
    answer = str(as_object(rounds[0].answer.get("content")).get("text"))
    prompt = as_object(exchange.params.get("arguments")).get("prompt")
    if str(prompt) not in str(messages):
        return f"the messages {messages!r}"
    blocks = exchange.objects("content")
    problem = call_problem(exchange) or blocks_problem(blocks, {"text": text_problem})
    return problem or (None if answer in str(blocks) else f"{blocks!r}, without {answer!r}")


# --- what the checks must catch


def _edit_field(name: str, edit: Callable[[Schema], object]) -> OnReply:
    def change(reply: Json, context: FaultContext) -> Json:
        for params in question_params(reply, ELICIT):
            edit(params["requestedSchema"]["properties"][name])
        return reply

    return change


def _set(key: str, value: object) -> Callable[[Schema], object]:
    return lambda schema: schema.update({key: value})


def _drop_titles(schema: Schema) -> None:
    schema["oneOf"] = [{"const": option["const"]} for option in schema["oneOf"]]


UNTITLED: Final = {"type": "string", "enum": ["value1", "value2", "value3"]}
FORM_FAULTS: Final = tuple(
    on_reply(fault, id=f"elicitation.{name}", breaks=breaks)(_edit_field(field, edit))
    for name, fault, breaks, field, edit in (
        (
            "boolean-default-as-number",
            "suggests a number for a boolean",
            f"{DEFAULTS}-boolean-default",
            "verified",
            _set("default", 1),
        ),
        (
            "default-not-offered",
            "suggests a value that is not in the enum",
            f"{DEFAULTS}-enum-default",
            "status",
            _set("default", "unknown"),
        ),
        (
            "integer-default-as-text",
            "suggests a text for an integer",
            f"{DEFAULTS}-integer-default",
            "age",
            _set("default", "30"),
        ),
        (
            "number-default-rounded",
            "rounds the default of a number",
            f"{DEFAULTS}-number-default",
            "score",
            _set("default", 95),
        ),
        (
            "text-without-default",
            "suggests nothing for a string",
            f"{DEFAULTS}-string-default",
            "name",
            lambda schema: schema.pop("default"),
        ),
        (
            "names-too-few",
            "names fewer choices than there are",
            f"{ENUMS}-legacy-enumnames",
            "legacyEnum",
            lambda schema: schema["enumNames"].pop(),
        ),
        (
            "several-untitled",
            "drops the titles of a multiple choice",
            f"{ENUMS}-titled-multi",
            "titledMulti",
            _set("items", UNTITLED),
        ),
        (
            "titles-dropped",
            "drops the titles of a choice",
            f"{ENUMS}-titled-single",
            "titledSingle",
            _drop_titles,
        ),
        (
            "several-as-one",
            "declares a multiple choice as a string",
            f"{ENUMS}-untitled-multi",
            "untitledMulti",
            _set("type", "string"),
        ),
        (
            "single-choice-named",
            "adds `enumNames` to an untitled choice",
            f"{ENUMS}-untitled-single",
            "untitledSingle",
            _set("enumNames", ["One", "Two", "Three"]),
        ),
    )
)


def _answer_calls(text: str) -> OnRequest:
    def change(message: Json, context: FaultContext) -> Json | LocalAnswer:
        if message.get("method") != "tools/call":
            return message
        return LocalAnswer([result_reply(message, {"content": [{"type": "text", "text": text}]})])

    return change


UNASKED: Final = tuple(
    on_request(fault, id=f"elicitation.{name}", breaks=breaks)(_answer_calls(text))
    for name, fault, breaks, text in (
        ("defaults-unasked", "shows no form with defaults", f"{DEFAULTS}-general", "Elicitation completed"),
        ("choices-unasked", "shows no form with choices", f"{ENUMS}-general", "Elicitation completed"),
        ("model-not-asked", "does not ask the model", "tools-call-sampling", "LLM response: I know"),
    )
)


@on_result(
    "returns the same for accept and decline", breaks="tools-call-elicitation", name="test_elicitation"
)
def answer_makes_no_difference(result: Json, context: FaultContext) -> None:
    result["content"] = [{"type": "text", "text": "Thank you"}]


@on_reply("elicits with another message", breaks="tools-call-elicitation")
def message_of_its_own(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, ELICIT):
        params["message"] = "Who are you?"
    return reply


@on_result("omits the answer of the model", breaks="tools-call-sampling", name="test_sampling")
def model_unheard(result: Json, context: FaultContext) -> None:
    result["content"] = [{"type": "text", "text": "LLM response: none"}]


@on_reply("samples with another prompt", breaks="tools-call-sampling")
def prompt_of_its_own(reply: Json, context: FaultContext) -> Json:
    for params in question_params(reply, SAMPLE):
        params["messages"][0]["content"]["text"] = "Say something"
    return reply
