"""Bad arguments: what a tool's own schema refuses must be refused, in the way the revision wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
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
from assay.lab.harness.driver.argument import invalid_arguments
from assay.lab.harness.driver.peer import Reply
from assay.lab.harness.need import A_CALLABLE_TOOL, A_TOOL, declares
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.tool_call import ToolCall, listed_tools, succeeded, tool_calls
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

# --- what is asked


ENOUGH: Final = 10
"""Working tools that are tried with bad arguments. Of a tool that never works, a refusal proves nothing."""


@scenario(
    "Call read-only tools with arguments and names that do not fit",
    exercises=("tools.bad-arguments", "tools.letter-case"),
    needs=(A_TOOL, A_CALLABLE_TOOL),
)
async def drive_bad_arguments(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tried = 0
    for tool in stage.facts.quick_tools:
        good = stage.facts.arguments_for(tool)
        bad = list(invalid_arguments(tool, good))
        if tried == ENOUGH or not bad or not _works(await peer.call(tool, good)):
            continue
        tried += 1
        for arguments in bad:
            await peer.call(tool, arguments)
        swapped = str(tool["name"]).swapcase()
        if swapped not in [known.get("name") for known in stage.facts.tools]:
            await peer.call({**tool, "name": swapped}, good)


def _works(reply: Reply) -> bool:
    done = reply.result.get("resultType", "complete") == "complete"
    return reply.is_result and done and not reply.result.get("isError")


@scenario("Call a tool that does not exist", needs=(declares("tools"),))
async def drive_unknown_name(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    await peer.request("tools/call", {"name": "no-such-tool-of-the-lab", "arguments": {}})


# --- how it is judged


BLAMED: Final = frozenset({INVALID_PARAMS, INTERNAL_ERROR})
"""Errors that can only be about the arguments, when the same tool works with others."""


@check("Arguments that do not fit the schema are refused", requirements=("TL-21", "TL-23"))
def judge_bad_arguments(trace: Trace) -> Iterator[Observation]:
    calls = list(tool_calls(trace))
    working = {call.name for call in calls if call.succeeded and call.misfit is None}
    for call in calls:
        misfit = call.misfit
        if misfit is not None and (call.succeeded or call.name in working):
            yield from _judge_misfit(call, misfit)


def _judge_misfit(call: ToolCall, misfit: str) -> Iterator[Observation]:
    expected = f"a refusal, since the arguments do not fit the tool's `inputSchema`: {misfit}"
    yield observe("TL-23", not call.succeeded, call, expected=expected, observed=call.exchange)
    if call.failed or call.exchange.code in BLAMED:
        expected = "a result with `isError` that explains to a model what is wrong with its arguments"
        yield observe("TL-21", call.failed, call, expected=expected, observed=call.exchange)


@check("A tool that does not exist is refused with -32602", requirements=("TL-19", "TL-32"), everywhere=True)
def judge_unknown_name(trace: Trace) -> Iterator[Observation]:
    complete = any(listing.complete for listing in listings(trace, "tools/list", "tools"))
    listed = listed_tools(trace)
    for exchange in trace.exchanges("tools/call"):
        if complete and str(exchange.params.get("name")) not in listed and exchange.answer is not None:
            refused = exchange.answer.shape is Shape.ERROR
            expected = f"error {INVALID_PARAMS}"
            yield observe("TL-19", refused, exchange, expected=expected, observed=exchange)
            if refused:
                documented = exchange.code == INVALID_PARAMS
                yield observe("TL-32", documented, exchange, expected=expected, observed=exchange)


@check("Tool names are case-sensitive", requirements=("TL-08",))
def judge_letter_case(trace: Trace) -> Iterator[Observation]:
    listed = listed_tools(trace)
    working = {call.name.casefold() for call in tool_calls(trace) if call.succeeded}
    for exchange in trace.exchanges("tools/call"):
        name = exchange.params.get("name")
        if exchange.answer is None or not isinstance(name, str) or name in listed:
            continue
        if name.casefold() in working:
            yield observe(
                "TL-08",
                not succeeded(exchange),
                exchange,
                expected=f"{name!r} to be another name than the tool's",
                observed="the tool was called",
            )


# --- what the checks must catch


@on_reply("reports invalid arguments as error -32602", breaks="TL-21", scenario="tools.bad-arguments")
def bad_arguments_are_an_error(reply: Json, context: FaultContext) -> Json:
    failed = context.method == "tools/call" and reply.get("result", {}).get("isError")
    return error_reply(reply, INVALID_PARAMS, "Invalid arguments") if failed else reply


@on_request("converts an object to text", breaks="TL-23")
def takes_any_type(message: Json, context: FaultContext) -> Json:
    arguments = params_of(message).get("arguments")
    if message.get("method") == "tools/call" and isinstance(arguments, dict):
        for name, value in arguments.items():
            arguments[name] = str(value) if isinstance(value, dict) else value
    return message


@on_request("fills in a missing argument", breaks="TL-23")
def takes_nothing(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call" and params_of(message).get("arguments") == {}:
        message["params"]["arguments"] = {"message": "undefined"}
    return message


@on_reply("answers an unknown tool with an empty result", breaks="TL-19")
def unknown_empty(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" not in reply:
        return reply
    return result_reply(reply, {"content": [], "resultType": "complete"})


@on_reply("answers an unknown tool with `isError`", breaks="TL-19")
def unknown_in_result(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" not in reply:
        return reply
    text = reply["error"]["message"]
    typed = {"resultType": "complete"} if "server/discover" in context.revision.requests else {}
    return result_reply(reply, {"content": [{"type": "text", "text": text}], "isError": True, **typed})


@on_reply("refuses an unknown tool with -32601", breaks="TL-32")
def unknown_as_method(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["code"] = METHOD_NOT_FOUND
    return reply


@on_request("finds tools in any letter case", breaks="TL-08", transports=STDIO_ONLY)
def any_case(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "tools/call" and isinstance(params.get("name"), str):
        params["name"] = params["name"].lower()
    return message
