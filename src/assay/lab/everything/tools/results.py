"""Tool results: each kind of content, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from assay.lab.everything.content import (
    Problem,
    blocks_problem,
    image_problem,
    judge_content,
    resource_problem,
    text_problem,
    wav_problem,
)
from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_result,
)
from assay.lab.harness.check import Check
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered
from assay.model.error import INTERNAL_ERROR


class Content(NamedTuple):
    """A fixture tool, and the blocks that its result must have."""

    name: str
    tool: str
    description: str
    """Completes "a tool that returns …"."""
    blocks: dict[str, Problem]


CONTENTS: Final = (
    Content("tools-call-image", "test_image_content", "an image", {"image": image_problem}),
    Content("tools-call-audio", "test_audio_content", "audio", {"audio": wav_problem}),
    Content(
        "tools-call-embedded-resource",
        "test_embedded_resource",
        "an embedded resource",
        {"resource": resource_problem},
    ),
    Content(
        "tools-call-mixed-content",
        "test_multiple_content_types",
        "several kinds of content",
        {"text": text_problem, "image": image_problem, "resource": resource_problem},
    ),
)

# --- what is asked


def _call(name: str, title: str, tool: str) -> Scenario:
    async def drive(stage: Stage) -> None:
        peer = await stage.open()
        await peer.call(tool_of(stage.facts, tool), {})

    return official_scenario(name, title, needs=(fixture_tool(tool),))(drive)


SCENARIOS: Final = (
    *(_call(case.name, f"Call a tool that returns {case.description}", case.tool) for case in CONTENTS),
    _call("tools-call-error", "Call a tool that fails", "test_error_handling"),
)


@official_scenario(
    "tools-call-simple-text", "Call a tool that returns a text", needs=(fixture_tool("test_simple_text"),)
)
async def drive_tools_call_simple_text(stage: Stage) -> None:
    peer = await stage.open()
    # Without `arguments`: they are optional, and this tool takes none.
    await peer.request("tools/call", {"name": "test_simple_text"})


# --- how it is judged


def _judge(case: Content) -> Check:
    title = f"The result has {case.description}"
    return official_check(case.name, title)(
        lambda trace: judge_content(trace, case.name, case.tool, **case.blocks)
    )


SIMPLE_TEXT: Final = Content("tools-call-simple-text", "test_simple_text", "a text", {"text": text_problem})
CHECKS: Final = tuple(_judge(case) for case in (SIMPLE_TEXT, *CONTENTS))


@official_check("tools-call-error", "A tool reports its failure in its result")
def judge_tools_call_error(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "tools/call", name="test_error_handling"):
        problem = _failure_problem(exchange)
        expected = "a result with `isError: true` and a text that says what went wrong"
        yield observe("tools-call-error", problem is None, exchange, expected=expected, observed=problem)


def _failure_problem(exchange: Exchange) -> str | None:
    if exchange.result is None:
        return str(exchange)
    if exchange.result.get("isError") is not True:
        return f"isError is {exchange.result.get('isError')!r}"
    return blocks_problem(exchange.objects("content")[:1], {"text": text_problem})


# --- what the checks must catch

DATA: Final = "content.0.data"
RESULT_EDITS: Final = (
    *edited_results(
        "tools/call",
        ("tools.blank-text", "returns an empty text", "tools-call-simple-text", "content.0.text", ""),
        name="test_simple_text",
    ),
    *edited_results(
        "tools/call",
        ("tools.image-as-url", "returns a data URL", "tools-call-image", DATA, "data:image/png;base64,AAAA"),
        ("tools.image-of-text", "returns text as an image", "tools-call-image", DATA, "bm90IGEgcGljdHVyZQ=="),
        name="test_image_content",
    ),
    *edited_results(
        "tools/call",
        (
            "tools.audio-untyped",
            "returns audio of no known type",
            "tools-call-audio",
            "content.0.mimeType",
            "application/octet-stream",
        ),
        (
            "tools.audio-without-header",
            "returns WAV without a header",
            "tools-call-audio",
            DATA,
            "gICAgICAgIA=",
        ),
        name="test_audio_content",
    ),
    *edited_results(
        "tools/call",
        (
            "tools.resource-untyped",
            "embeds a resource without a mimeType",
            "tools-call-embedded-resource",
            "content.0.resource.mimeType",
            ABSENT,
        ),
        name="test_embedded_resource",
    ),
    *edited_results(
        "tools/call",
        (
            "tools.failure-unmarked",
            "returns a failure without isError",
            "tools-call-error",
            "isError",
            ABSENT,
        ),
        name="test_error_handling",
    ),
)


@on_result("omits the image", breaks="tools-call-mixed-content", name="test_multiple_content_types")
def image_left_out(result: Json, context: FaultContext) -> None:
    result["content"] = [block for block in result["content"] if block["type"] != "image"]


@on_reply("reports a tool's failure as a JSON-RPC error", breaks="tools-call-error")
def failure_as_error(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") != "test_error_handling":
        return reply
    return error_reply(reply, INTERNAL_ERROR, "It failed")
