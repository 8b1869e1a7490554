"""Tool results: each kind of content, and errors."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.content import (
    blocks_problem,
    image_problem,
    judge_content,
    resource_problem,
    text_problem,
    wav_problem,
)
from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.evidence import answered
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply, on_result
from assay.lab.harness.trace.trace import Exchange

# --- what is asked


@official_scenario(
    "tools-call-simple-text", "A tool answers with a text", needs=(fixture_tool("test_simple_text"),)
)
async def drive_tools_call_simple_text(stage: Stage) -> None:
    peer = await stage.open()
    # Without `arguments`: they are optional, and this tool takes none.
    await peer.request("tools/call", {"name": "test_simple_text"})


@official_scenario(
    "tools-call-image", "A tool answers with an image", needs=(fixture_tool("test_image_content"),)
)
async def drive_tools_call_image(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_image_content"), {})


@official_scenario(
    "tools-call-audio", "A tool answers with a sound", needs=(fixture_tool("test_audio_content"),)
)
async def drive_tools_call_audio(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_audio_content"), {})


@official_scenario(
    "tools-call-embedded-resource",
    "A tool answers with an embedded resource",
    needs=(fixture_tool("test_embedded_resource"),),
)
async def drive_tools_call_embedded_resource(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_embedded_resource"), {})


@official_scenario(
    "tools-call-mixed-content",
    "A tool answers with several kinds of content",
    needs=(fixture_tool("test_multiple_content_types"),),
)
async def drive_tools_call_mixed_content(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_multiple_content_types"), {})


@official_scenario(
    "tools-call-error", "A tool tells of its failure", needs=(fixture_tool("test_error_handling"),)
)
async def drive_tools_call_error(stage: Stage) -> None:
    peer = await stage.open()
    await peer.call(tool_of(stage.facts, "test_error_handling"), {})


# --- how it is judged


ROW = "tools-call-simple-text"


@official_check(ROW, "A tool answers with a text", requirements=(ROW,))
def judge_tools_call_simple_text(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(trace, ROW, "test_simple_text", text=text_problem)


TOOLS_CALL_IMAGE_ROW = "tools-call-image"


@official_check(TOOLS_CALL_IMAGE_ROW, "A tool answers with an image", requirements=(TOOLS_CALL_IMAGE_ROW,))
def judge_tools_call_image(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(trace, TOOLS_CALL_IMAGE_ROW, "test_image_content", image=image_problem)


TOOLS_CALL_AUDIO_ROW = "tools-call-audio"


@official_check(TOOLS_CALL_AUDIO_ROW, "A tool answers with a sound", requirements=(TOOLS_CALL_AUDIO_ROW,))
def judge_tools_call_audio(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(trace, TOOLS_CALL_AUDIO_ROW, "test_audio_content", audio=wav_problem)


TOOLS_CALL_EMBEDDED_RESOURCE_ROW = "tools-call-embedded-resource"


@official_check(
    TOOLS_CALL_EMBEDDED_RESOURCE_ROW,
    "A tool answers with an embedded resource",
    requirements=(TOOLS_CALL_EMBEDDED_RESOURCE_ROW,),
)
def judge_tools_call_embedded_resource(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(
        trace, TOOLS_CALL_EMBEDDED_RESOURCE_ROW, "test_embedded_resource", resource=resource_problem
    )


TOOLS_CALL_MIXED_CONTENT_ROW = "tools-call-mixed-content"


@official_check(
    TOOLS_CALL_MIXED_CONTENT_ROW,
    "A tool answers with several kinds of content",
    requirements=(TOOLS_CALL_MIXED_CONTENT_ROW,),
)
def judge_tools_call_mixed_content(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(
        trace,
        TOOLS_CALL_MIXED_CONTENT_ROW,
        "test_multiple_content_types",
        text=text_problem,
        image=image_problem,
        resource=resource_problem,
    )


TOOLS_CALL_ERROR_ROW = "tools-call-error"


@official_check(TOOLS_CALL_ERROR_ROW, "A tool tells of its failure", requirements=(TOOLS_CALL_ERROR_ROW,))
def judge_tools_call_error(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "tools/call", name="test_error_handling"):
        problem = _problem(exchange)
        expected = "a result with `isError: true` and a text that says what went wrong"
        yield observe(TOOLS_CALL_ERROR_ROW, problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange) -> str | None:
    if exchange.result is None:
        return str(exchange)
    if exchange.result.get("isError") is not True:
        return f"isError is {exchange.result.get('isError')!r}"
    return blocks_problem(exchange.objects("content")[:1], {"text": text_problem})


# --- what the checks must catch


@on_result("a text is empty", breaks="tools-call-simple-text", name="test_simple_text")
def blank_text(result: Json, context: FaultContext) -> None:
    result["content"][0]["text"] = ""


@on_result("an image is not in Base64", breaks="tools-call-image", name="test_image_content")
def image_as_url(result: Json, context: FaultContext) -> None:
    result["content"][0]["data"] = "data:image/png;base64,AAAA"


@on_result("an image is no image", breaks="tools-call-image", name="test_image_content")
def image_of_text(result: Json, context: FaultContext) -> None:
    result["content"][0]["data"] = "bm90IGEgcGljdHVyZQ=="


@on_result("a sound does not say that it is WAV", breaks="tools-call-audio", name="test_audio_content")
def audio_untyped(result: Json, context: FaultContext) -> None:
    result["content"][0]["mimeType"] = "application/octet-stream"


@on_result("a WAV has no header", breaks="tools-call-audio", name="test_audio_content")
def audio_without_header(result: Json, context: FaultContext) -> None:
    result["content"][0]["data"] = "gICAgICAgIA="


@on_result(
    "an embedded resource has no mimeType",
    breaks="tools-call-embedded-resource",
    name="test_embedded_resource",
)
def resource_untyped(result: Json, context: FaultContext) -> None:
    result["content"][0]["resource"].pop("mimeType")


@on_result(
    "one of the kinds of content is left out",
    breaks="tools-call-mixed-content",
    name="test_multiple_content_types",
)
def image_left_out(result: Json, context: FaultContext) -> None:
    result["content"] = [one for one in result["content"] if one["type"] != "image"]


@on_reply("a tool that fails is answered with a JSON-RPC error", breaks="tools-call-error")
def failure_as_error(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") != "test_error_handling":
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32603, "message": "It failed"}}


@on_result("a failure is a result like any other", breaks="tools-call-error", name="test_error_handling")
def failure_unmarked(result: Json, context: FaultContext) -> None:
    result.pop("isError")
