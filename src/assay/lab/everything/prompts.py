"""Prompts: the list, and each kind of content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

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
from assay.lab.harness.check import Check
from assay.lab.harness.need import A_PROMPT, declares
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered

from .content import Block, Problem, blocks_problem, image_problem, resource_problem
from .declaration import official_check, official_scenario
from .evidence import judge_list, lacking
from .fixture import fixture_prompt

ROLES: Final = ("user", "assistant")


def judge_prompt(
    trace: Trace, requirement: str, name: str, expected: str, problem_of: Callable[[Exchange], str | None]
) -> Iterator[Observation]:
    """Every result of the prompt has valid messages without that problem."""
    for exchange in answered(trace, "prompts/get", name=name):
        problem = _messages_problem(exchange) or problem_of(exchange)
        yield observe(requirement, problem is None, exchange, expected=expected, observed=problem)


def _messages_problem(exchange: Exchange) -> str | None:
    if exchange.result is None:
        return str(exchange)
    messages = exchange.items("messages")
    return (
        next((repr(message) for message in messages if not _is_message(message)), None)
        if messages
        else "no messages"
    )


def _is_message(message: Any) -> bool:
    known = isinstance(message, dict) and message.get("role") in ROLES
    return known and isinstance(message.get("content"), dict)


def blocks_of(exchange: Exchange) -> list[Block]:
    """The content of the messages, in order."""
    contents = (message.get("content") for message in exchange.objects("messages"))
    return [block for block in contents if isinstance(block, dict)]


def text_of(exchange: Exchange) -> str:
    texts = (block.get("text") for block in blocks_of(exchange))
    return "\n".join(text for text in texts if isinstance(text, str))


# --- what is asked


@official_scenario("prompts-list", "List prompts", needs=(declares("prompts"), A_PROMPT))
async def drive_prompts_list(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")


class FixturePrompt(NamedTuple):
    """A prompt, and the arguments that it is requested with, one request each."""

    name: str
    prompt: str
    description: str
    """Completes "a prompt with …"."""
    arguments: tuple[dict[str, str] | None, ...] = (None,)


VALUES: Final = (("testValue1", "testValue2"), ("assay 4711", "assay 4712"))
"""The official values, and others for which no server can have prepared an answer."""
SIMPLE: Final = FixturePrompt("prompts-get-simple", "test_simple_prompt", "messages")
WITH_ARGUMENTS: Final = FixturePrompt(
    "prompts-get-with-args",
    "test_prompt_with_arguments",
    "the values of its arguments",
    tuple({"arg1": first, "arg2": second} for first, second in VALUES),
)
WITH_RESOURCE: Final = FixturePrompt(
    "prompts-get-embedded-resource",
    "test_prompt_with_embedded_resource",
    "an embedded resource",
    ({"resourceUri": "test://example-resource"},),
)
WITH_IMAGE: Final = FixturePrompt("prompts-get-with-image", "test_prompt_with_image", "an image")


def _get(fixture: FixturePrompt) -> Scenario:
    async def drive(stage: Stage) -> None:
        peer = await stage.open()
        for arguments in fixture.arguments:
            sent = {} if arguments is None else {"arguments": arguments}
            await peer.request("prompts/get", {"name": fixture.prompt, **sent})

    title = f"Get a prompt with {fixture.description}"
    return official_scenario(fixture.name, title, needs=(fixture_prompt(fixture.prompt),))(drive)


SCENARIOS: Final = tuple(map(_get, (SIMPLE, WITH_ARGUMENTS, WITH_RESOURCE, WITH_IMAGE)))

# --- how it is judged


@official_check("prompts-list", "Prompts are listed with name and description")
def judge_prompts_list(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, "prompts-list", "prompts", lambda item: lacking(item, "name", "description"))


def _judge(fixture: FixturePrompt, expected: str, problem_of: Callable[[Exchange], str | None]) -> Check:
    return official_check(fixture.name, f"The prompt has {fixture.description}")(
        lambda trace: judge_prompt(trace, fixture.name, fixture.prompt, expected, problem_of)
    )


def _empty_text(exchange: Exchange) -> str | None:
    empty = [block for block in blocks_of(exchange) if block.get("type") == "text" and not block.get("text")]
    return f"an empty text: {empty[0]!r}" if empty else None


def _missing_values(exchange: Exchange) -> str | None:
    arguments = exchange.params.get("arguments")
    text = text_of(exchange)
    values = [str(value) for value in arguments.values()] if isinstance(arguments, dict) else []
    missing = [value for value in values if value not in text]
    return f"{text!r} without {', '.join(missing)}" if missing else None


def _block_problem(kind: str, problem: Problem) -> Callable[[Exchange], str | None]:
    return lambda exchange: blocks_problem(blocks_of(exchange), {kind: problem})


CHECKS: Final = (
    _judge(SIMPLE, "at least one message, each with a role and content", _empty_text),
    _judge(WITH_ARGUMENTS, "messages with the value of every argument", _missing_values),
    _judge(
        WITH_RESOURCE,
        "a message whose content is an embedded resource",
        _block_problem("resource", resource_problem),
    ),
    _judge(WITH_IMAGE, "a message whose content is an image", _block_problem("image", image_problem)),
)

# --- what the checks must catch


@on_result("omits the value of an argument", breaks="prompts-get-with-args", method="prompts/get")
def first_argument_only(result: Json, context: FaultContext) -> None:
    text = result["messages"][0]["content"]["text"]
    result["messages"][0]["content"]["text"] = text.partition(", arg2")[0]


RESULT_EDITS: Final = (
    *edited_results(
        "prompts/list",
        (
            "prompts.undescribed",
            "lists a prompt without a description",
            "prompts-list",
            "prompts.0.description",
            ABSENT,
        ),
    ),
    *edited_results(
        "prompts/get",
        ("prompts.no-messages", "returns no messages", "prompts-get-simple", "messages", []),
        (
            "prompts.role-of-nobody",
            "returns a message without a role",
            "prompts-get-simple",
            "messages.0.role",
            ABSENT,
        ),
        (
            "prompts.link-for-resource",
            "links to a resource instead of embedding it",
            "prompts-get-embedded-resource",
            "messages.0.content",
            {"type": "text", "text": "See test://example-resource"},
        ),
        (
            "prompts.image-of-text",
            "returns text as an image",
            "prompts-get-with-image",
            "messages.0.content.data",
            "bm90IGEgcGljdHVyZQ==",
        ),
    ),
)
