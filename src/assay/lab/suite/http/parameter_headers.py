"""`x-mcp-header`: parameters of tools that clients repeat in headers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_reply,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for, value_for
from assay.lab.harness.trace.trace import Call, Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.header_annotation import A_HEADER, A_READ_ONLY_HEADER, Annotation, annotations_of, usable
from assay.lab.suite.mirrored_header import (
    Flaw,
    Mirror,
    is_mismatch,
    param_mirrors,
    standard_mirrors,
    tools_in,
)
from assay.model.error import HEADER_MISMATCH

# --- what is asked


@scenario(
    "Parameters that are marked for headers",
    exercises=("http.param-annotations",),
    needs=(A_HEADER,),
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_param_annotations(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")


@scenario(
    "Arguments in headers",
    exercises=("http.param-headers",),
    needs=(A_READ_ONLY_HEADER,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_param_headers(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tool = next(tool for tool in stage.facts.read_only_tools if usable(tool))
    marked = usable(tool)
    arguments = {**arguments_for(tool), **{one.path[0]: value_for(one.schema) for one in marked}}
    await peer.call(tool, arguments)
    one = marked[0]
    for given in (None, "of-another-kind", "caf\N{LATIN SMALL LETTER E WITH ACUTE}"):
        await peer.call(tool, arguments, headers={one.header: given})
    for value in ({}, {one.path[0]: None}):
        await peer.call(tool, {**without(arguments, one), **value})
    for number in (mark for mark in marked if type(arguments[mark.path[0]]) is int):
        await peer.call(tool, arguments, headers={number.header: f"{arguments[number.path[0]]}.0"})


def without(arguments: dict[str, Any], one: Annotation) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != one.path[0]}


# --- how it is judged


TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
REPEATABLE = {"integer", "string", "boolean", "null"}


@check(
    "Parameters are marked for headers as they may be",
    requirements=("XH-02", "XH-03", "XH-04", "XH-05", "XH-06", "XH-07"),
)
def judge_param_annotations(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            found = annotations_of(tool)
            times = Counter(str(one.value).lower() for one in found)
            for one in found:
                yield from _judge_value(one, exchange)
                yield from _judge_place(one, exchange)
                yield observe(
                    "XH-05",
                    times[str(one.value).lower()] == 1,
                    exchange,
                    expected=f"no other parameter of {tool.get('name')} with header {one.value}",
                    observed=f"{times[str(one.value).lower()]} of them",
                )


def _judge_value(one: Annotation, exchange: Exchange) -> Iterator[Observation]:
    value = one.value if isinstance(one.value, str) else ""
    shown = f"{one.value!r} at {'.'.join(one.path)}"
    yield observe("XH-02", bool(value), exchange, expected="a name for the header", observed=shown)
    if value:
        sound = TOKEN.fullmatch(value) is not None
        yield observe("XH-03", sound, exchange, expected="a token (`1*tchar`)", observed=shown)
        controls = any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in value)
        yield observe("XH-04", not controls, exchange, expected="no control characters", observed=shown)


def _judge_place(one: Annotation, exchange: Exchange) -> Iterator[Observation]:
    place = ".".join(one.path) or "the root"
    if one.types:
        yield observe(
            "XH-06",
            all(isinstance(kind, str) and kind in REPEATABLE for kind in one.types),
            exchange,
            expected="an integer, string or boolean parameter",
            observed=f"{place} is {', '.join(map(str, one.types))}",
        )
    yield observe(
        "XH-07",
        not one.via,
        exchange,
        expected="a parameter that is reached through `properties` alone",
        observed=f"{place}, through {one.via}",
    )


ROWS = {Flaw.MISSING: "XH-16", Flaw.CHARACTERS: "XH-17", Flaw.DIFFERENT: "XH-18"}


@check(
    "Headers of parameters must repeat the arguments",
    requirements=("XH-15", "XH-16", "XH-17", "XH-18", "XH-19"),
    transports=HTTP_ONLY,
)
def judge_param_headers(trace: Trace) -> Iterator[Observation]:
    tools = tools_in(trace.exchanges("tools/list"))
    for call in trace.calls:
        mirrors = [mirror for _, mirror in param_mirrors(call, tools)]
        if mirrors and not any(one.flaw for one in standard_mirrors(call, trace.revision)):
            yield from _judge_call(call, mirrors)


def _judge_call(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    told = [one for one in mirrors if one.told is not None]
    flawed = [one for one in told if one.flaw is not None and not same_number(one)]
    said = f"status {call.status}, error {call.code}"
    if len(flawed) == 1 and (flaw := flawed[0].flaw) is not None:
        expected = f"status 400 with error {HEADER_MISMATCH}: {flawed[0].header} is {flaw.value}"
        yield observe(ROWS[flaw], is_mismatch(call), call, expected=expected, observed=said)
    if flawed:
        return
    taken = call.code != HEADER_MISMATCH
    for mirror in mirrors:
        if mirror.told is None and mirror.given is None:
            expected = f"no {mirror.header} for an argument that is not there"
            yield observe("XH-15", taken, call, expected=expected, observed=said)
        elif same_number(mirror) and mirror.flaw is not None:
            expected = f"{mirror.given} is taken for {mirror.told}"
            yield observe("XH-19", taken, call, expected=expected, observed=said)


def same_number(mirror: Mirror) -> bool:
    """Whether header and argument are one integer, written in two ways."""
    if type(mirror.told) is not int or mirror.given is None:
        return False
    try:
        return float(mirror.given) == mirror.told
    except (ValueError, OverflowError):
        return False


# --- what the checks must catch


@on_reply("a parameter is marked with an empty name", breaks="XH-02", server="everything")
def header_without_name(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["region"]["x-mcp-header"] = ""
    return reply


@on_reply("the name of a header has a space in it", breaks="XH-03", server="everything")
def header_with_space(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["region"]["x-mcp-header"] = "Where To"
    return reply


@on_reply("the name of a header has a line end in it", breaks="XH-04", server="everything")
def header_with_newline(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["region"]["x-mcp-header"] = "Region\r\nX-Admin: yes"
    return reply


@on_reply("two names of headers differ in case only", breaks="XH-05", server="everything")
def header_twice(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["depth"]["x-mcp-header"] = "REGION"
    return reply


@on_reply("a parameter of type number is marked", breaks="XH-06", server="everything")
def header_of_number(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["depth"]["type"] = "number"
    return reply


@on_reply("the items of a list are marked", breaks="XH-07", server="everything")
def header_of_item(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["more"] = {"type": "array", "items": properties.pop("region")}
    return reply


@on_call("the header of an argument that is not there is wanted", breaks="XH-15", server="everything")
def param_header_always(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if context.method == "tools/call" and arguments.get("region") is None:
        request.set("Mcp-Name", None)  # what the server behind refuses as it would a missing parameter


@on_call("an argument without its header is served", breaks="XH-16", server="everything")
def param_header_optional(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") is None and isinstance(arguments.get("region"), str):
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("a parameter header with forbidden letters is served", breaks="XH-17", server="everything")
def param_letters_dropped(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if not (request.header("mcp-param-region") or "").isascii():
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("a parameter header may say anything", breaks="XH-18", server="everything")
def param_header_not_read(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    given = request.header("mcp-param-region")
    if given is not None and given.isascii() and isinstance(arguments.get("region"), str):
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("42.0 in a header is not taken for 42", breaks="XH-19", server="everything")
def param_number_as_text(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-param-depth") or "").endswith(".0"):
        request.set("Mcp-Param-Depth", "of another kind")
