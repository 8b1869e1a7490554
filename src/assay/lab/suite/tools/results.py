"""Tool results: failures, structured content, embedded resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    scenario,
)
from assay.lab.harness.need import A_CALLABLE_TOOL, A_TOOL
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.listing import declaration
from assay.lab.suite.tool_call import tool_calls
from assay.model.error import INTERNAL_ERROR

# --- what is asked


@scenario(
    "Call read-only tools",
    exercises=(
        "tools.failure",
        "tools.structured-output",
        "tools.structured-object",
        "tools.structured-text",
        "tools.embedded-resource",
    ),
    needs=(A_TOOL, A_CALLABLE_TOOL),
)
async def drive_read_only_calls(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.callable_tools:
        for arguments in stage.facts.argument_sets(tool):
            await peer.call(tool, arguments)


# --- how it is judged


@check("Failures of a tool are results with `isError`", requirements=("TL-20",))
def judge_failure(trace: Trace) -> Iterator[Observation]:
    for call in tool_calls(trace):
        # Other codes may concern the request itself: missing fields, authorization, rate limits.
        broken = call.exchange.code == INTERNAL_ERROR and call.misfit is None
        if broken or call.exchange.result is not None:
            yield observe(
                "TL-20",
                not broken,
                call,
                expected="a result with `isError`, since the tool was found and its arguments fit",
                observed=call.exchange,
            )


@check("Structured content fits the output schema", requirements=("TL-15",), everywhere=True)
def judge_structured_output(trace: Trace) -> Iterator[Observation]:
    for call in tool_calls(trace):
        if call.succeeded and "outputSchema" in call.tool:
            problem = _structure_problem(call.result, call.tool["outputSchema"])
            yield observe(
                "TL-15",
                problem is None,
                call,
                expected="`structuredContent` that fits the tool's `outputSchema`",
                observed=problem,
            )


def _structure_problem(result: dict[str, Any], schema: Any) -> str | None:
    if "structuredContent" not in result:
        return "no `structuredContent`"
    return value_problem(result["structuredContent"], schema)


@check("Output schemas and structured content are objects", requirements=("TL-17",), everywhere=True)
def judge_structured_object(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            if "outputSchema" in tool:
                schema = tool["outputSchema"]
                yield observe(
                    "TL-17",
                    isinstance(schema, dict) and schema.get("type") == "object",
                    exchange,
                    expected="an `outputSchema` with type object",
                    observed=f"{tool.get('name')}: {schema!r}",
                )
    for call in tool_calls(trace):
        if "structuredContent" in call.result:
            content = call.result["structuredContent"]
            expected = "`structuredContent` that is an object"
            yield observe("TL-17", isinstance(content, dict), call, expected=expected, observed=repr(content))


@check("Structured content is also given as text", requirements=("TL-14",), everywhere=True)
def judge_structured_text(trace: Trace) -> Iterator[Observation]:
    for call in tool_calls(trace):
        if call.succeeded and "structuredContent" in call.result:
            texts = [block.get("text") for block in call.blocks if block.get("type") == "text"]
            same = any(_is_json_of(text, call.result["structuredContent"]) for text in texts)
            yield observe(
                "TL-14",
                same,
                call,
                expected="a text block with the structured content as JSON",
                observed=f"{len(texts)} text blocks, none of them the same",
            )


def _is_json_of(text: Any, value: Any) -> bool:
    try:
        return isinstance(text, str) and bool(msgspec.json.decode(text) == value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False


@check("A server that embeds resources declares resources", requirements=("TL-18",), everywhere=True)
def judge_embedded_resource(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for call in tool_calls(trace):
        if declared is not None and any(block.get("type") == "resource" for block in call.blocks):
            yield observe(
                "TL-18",
                declared.has("resources"),
                declared,
                call,
                expected="`resources` among the declared capabilities",
                observed=f"declared: {', '.join(declared.capabilities) or 'nothing'}",
            )


# --- what the checks must catch


@on_reply("reports a tool's failure as error -32603", breaks="TL-20", scenario="tools.read-only-calls")
def failure_is_an_error(reply: Json, context: FaultContext) -> Json:
    failed = context.method == "tools/call" and reply.get("result", {}).get("isError")
    return error_reply(reply, INTERNAL_ERROR, "Internal error") if failed else reply


@on_reply("a tool with an output schema returns no structured content", breaks="TL-15")
def structured_missing(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call":
        reply.get("result", {}).pop("structuredContent", None)
    return reply


@on_reply("structured content does not fit the output schema", breaks="TL-15")
def unstructured(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "structuredContent" in reply.get("result", {}):
        reply["result"]["structuredContent"] = {"made": "up"}
    return reply


@on_reply("structured content is a list", breaks="TL-17")
def structured_list(reply: Json, context: FaultContext) -> Json:
    if "structuredContent" in reply.get("result", {}):
        reply["result"]["structuredContent"] = [reply["result"]["structuredContent"]]
    return reply


@on_reply("structured content comes without text", breaks="TL-14")
def structured_only(reply: Json, context: FaultContext) -> Json:
    if "structuredContent" in reply.get("result", {}):
        reply["result"]["content"] = []
    return reply


RESULT_EDITS: Final = (
    *edited_results(
        "tools/list",
        (
            "tools.output-schema-of-text",
            "the root of an output schema is a string",
            "TL-17",
            "tools.0.outputSchema",
            {"type": "string"},
        ),
        scenario="tools.read-only-calls",
    ),
    *edited_results(
        ("initialize", "server/discover"),
        (
            "tools.embeds-without-resources",
            "the capabilities do not mention resources",
            "TL-18",
            "capabilities.resources",
            ABSENT,
        ),
    ),
)
