"""Prompts: the list, and each kind of content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_result,
)
from assay.lab.harness.need import A_PROMPT, declares
from assay.lab.harness.trace.trace import Exchange

from .content import Block, blocks_problem, image_problem, resource_problem
from .declaration import official_check, official_scenario
from .evidence import answered, judge_list, lacking
from .fixture import fixture_prompt

ROLES = ("user", "assistant")


def judge_prompt(
    trace: Trace, row: str, name: str, expected: str, problem_of: Callable[[Exchange], str | None]
) -> Iterator[Observation]:
    """Every getting of a prompt gives messages, and those are as expected."""
    for exchange in answered(trace, "prompts/get", name=name):
        problem = _problem(exchange) or problem_of(exchange)
        yield observe(row, problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange) -> str | None:
    if exchange.result is None:
        return str(exchange)
    messages = exchange.items("messages")
    return next((repr(one) for one in messages if not _is_message(one)), None) if messages else "no messages"


def _is_message(message: Any) -> bool:
    known = isinstance(message, dict) and message.get("role") in ROLES
    return known and isinstance(message.get("content"), dict)


def blocks_of(exchange: Exchange) -> list[Block]:
    """What the messages hold, in order."""
    found = (message.get("content") for message in exchange.objects("messages"))
    return [block for block in found if isinstance(block, dict)]


def text_of(exchange: Exchange) -> str:
    texts = (block.get("text") for block in blocks_of(exchange))
    return "\n".join(text for text in texts if isinstance(text, str))


# --- what is asked


@official_scenario("prompts-list", "The list of prompts", needs=(declares("prompts"), A_PROMPT))
async def drive_prompts_list(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")


@official_scenario(
    "prompts-get-simple", "A prompt without arguments", needs=(fixture_prompt("test_simple_prompt"),)
)
async def drive_prompts_get_simple(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/get", {"name": "test_simple_prompt"})


PROMPT = "test_prompt_with_arguments"
VALUES = (("testValue1", "testValue2"), ("assay 4711", "assay 4712"))
"""The official ones, and some that no server can have prepared an answer for."""


@official_scenario("prompts-get-with-args", "A prompt with arguments", needs=(fixture_prompt(PROMPT),))
async def drive_prompts_get_with_args(stage: Stage) -> None:
    peer = await stage.open()
    for first, second in VALUES:
        arguments = {"arg1": first, "arg2": second}
        await peer.request("prompts/get", {"name": PROMPT, "arguments": arguments})


PROMPTS_GET_EMBEDDED_RESOURCE_PROMPT = "test_prompt_with_embedded_resource"


@official_scenario(
    "prompts-get-embedded-resource",
    "A prompt with an embedded resource",
    needs=(fixture_prompt(PROMPTS_GET_EMBEDDED_RESOURCE_PROMPT),),
)
async def drive_prompts_get_embedded_resource(stage: Stage) -> None:
    peer = await stage.open()
    arguments = {"resourceUri": "test://example-resource"}
    await peer.request("prompts/get", {"name": PROMPTS_GET_EMBEDDED_RESOURCE_PROMPT, "arguments": arguments})


@official_scenario(
    "prompts-get-with-image", "A prompt with an image", needs=(fixture_prompt("test_prompt_with_image"),)
)
async def drive_prompts_get_with_image(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/get", {"name": "test_prompt_with_image"})


# --- how it is judged


ROW = "prompts-list"


@official_check(ROW, "Prompts are listed in full", requirements=(ROW,))
def judge_prompts_list(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, ROW, "prompts", _prompts_list_problem)


def _prompts_list_problem(prompt: dict[str, Any]) -> str | None:
    return lacking(prompt, "name", "description")


PROMPTS_GET_SIMPLE_ROW = "prompts-get-simple"


@official_check(PROMPTS_GET_SIMPLE_ROW, "A prompt has messages", requirements=(PROMPTS_GET_SIMPLE_ROW,))
def judge_prompts_get_simple(trace: Trace) -> Iterator[Observation]:
    expected = "at least one message, each with a role and content"
    yield from judge_prompt(
        trace, PROMPTS_GET_SIMPLE_ROW, "test_simple_prompt", expected, _prompts_get_simple_problem
    )


def _prompts_get_simple_problem(exchange: Exchange) -> str | None:
    empty = [block for block in blocks_of(exchange) if block.get("type") == "text" and not block.get("text")]
    return f"a text that is empty: {empty[0]!r}" if empty else None


PROMPTS_GET_WITH_ARGS_ROW = "prompts-get-with-args"


@official_check(
    PROMPTS_GET_WITH_ARGS_ROW, "A prompt's arguments are filled in", requirements=(PROMPTS_GET_WITH_ARGS_ROW,)
)
def judge_prompts_get_with_args(trace: Trace) -> Iterator[Observation]:
    expected = "messages in which the value of every argument appears"
    yield from judge_prompt(
        trace,
        PROMPTS_GET_WITH_ARGS_ROW,
        "test_prompt_with_arguments",
        expected,
        _prompts_get_with_args_problem,
    )


def _prompts_get_with_args_problem(exchange: Exchange) -> str | None:
    given = exchange.params.get("arguments")
    text = text_of(exchange)
    values = [str(value) for value in given.values()] if isinstance(given, dict) else []
    missing = [value for value in values if value not in text]
    return f"{text!r} without {', '.join(missing)}" if missing else None


PROMPTS_GET_EMBEDDED_RESOURCE_ROW = "prompts-get-embedded-resource"


@official_check(
    PROMPTS_GET_EMBEDDED_RESOURCE_ROW,
    "A prompt holds a resource",
    requirements=(PROMPTS_GET_EMBEDDED_RESOURCE_ROW,),
)
def judge_prompts_get_embedded_resource(trace: Trace) -> Iterator[Observation]:
    expected = "a message whose content is an embedded resource"
    yield from judge_prompt(
        trace,
        PROMPTS_GET_EMBEDDED_RESOURCE_ROW,
        "test_prompt_with_embedded_resource",
        expected,
        _prompts_get_embedded_resource_problem,
    )


def _prompts_get_embedded_resource_problem(exchange: Exchange) -> str | None:
    return blocks_problem(blocks_of(exchange), {"resource": resource_problem})


PROMPTS_GET_WITH_IMAGE_ROW = "prompts-get-with-image"


@official_check(
    PROMPTS_GET_WITH_IMAGE_ROW, "A prompt holds an image", requirements=(PROMPTS_GET_WITH_IMAGE_ROW,)
)
def judge_prompts_get_with_image(trace: Trace) -> Iterator[Observation]:
    expected = "a message whose content is an image"
    yield from judge_prompt(
        trace, PROMPTS_GET_WITH_IMAGE_ROW, "test_prompt_with_image", expected, _prompts_get_with_image_problem
    )


def _prompts_get_with_image_problem(exchange: Exchange) -> str | None:
    return blocks_problem(blocks_of(exchange), {"image": image_problem})


# --- what the checks must catch


@on_result("an argument is not filled in", breaks="prompts-get-with-args", method="prompts/get")
def first_argument_only(result: Json, context: FaultContext) -> None:
    text = result["messages"][0]["content"]["text"]
    result["messages"][0]["content"]["text"] = text.partition(", arg2")[0]


RESULT_EDITS: Final = (
    *edited_results(
        "prompts/list",
        (
            "prompts.undescribed",
            "a prompt has no description",
            "prompts-list",
            "prompts.0.description",
            ABSENT,
        ),
    ),
    *edited_results(
        "prompts/get",
        ("prompts.no-messages", "a prompt has no messages", "prompts-get-simple", "messages", []),
        ("prompts.role-of-nobody", "a message has no role", "prompts-get-simple", "messages.0.role", ABSENT),
        (
            "prompts.link-for-resource",
            "a resource is not embedded",
            "prompts-get-embedded-resource",
            "messages.0.content",
            {"type": "text", "text": "See test://example-resource"},
        ),
        (
            "prompts.image-of-text",
            "an image is no image",
            "prompts-get-with-image",
            "messages.0.content.data",
            "bm90IGEgcGljdHVyZQ==",
        ),
    ),
)
