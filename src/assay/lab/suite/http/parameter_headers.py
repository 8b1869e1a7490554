"""`x-mcp-header`: parameters of tools that clients mirror in headers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

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
    on_result,
    scenario,
)
from assay.lab.harness.driver.argument import value_for
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.trace.trace import Call, Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import (
    A_HEADER,
    A_READ_ONLY_HEADER,
    KEYWORD,
    Annotation,
    Flaw,
    Mirror,
    annotations_of,
    is_mismatch,
    param_mirrors,
    standard_mirrors,
    tools_in,
    usable,
)
from assay.model.error import HEADER_MISMATCH

# --- what is asked


@scenario(
    "List tools with parameters that are mirrored in headers",
    needs=(A_HEADER,),
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_param_annotations(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")


@scenario(
    "Send wrong values in the headers of arguments",
    needs=(A_READ_ONLY_HEADER,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_param_headers(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tool = next(tool for tool in stage.facts.callable_tools if usable(tool))
    marks = usable(tool)
    marked = {mark.path[0]: value_for(mark.schema) for mark in marks}
    arguments = {**marked, **stage.facts.arguments_for(tool)}
    await peer.call(tool, arguments)
    first, (name,) = marks[0].header, marks[0].path
    for value in (None, "of-another-kind", "caf\N{LATIN SMALL LETTER E WITH ACUTE}"):
        await peer.call(tool, arguments, headers={first: value})
    without = {key: value for key, value in arguments.items() if key != name}
    for argument in ({}, {name: None}):
        await peer.call(tool, {**without, **argument})
    for mark in marks:
        if type(number := arguments[mark.path[0]]) is int:
            await peer.call(tool, arguments, headers={mark.header: f"{number}.0"})


# --- how it is judged


TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
MIRRORED_TYPES: Final = {"integer", "string", "boolean", "null"}


@check(
    "Every `x-mcp-header` is valid",
    requirements=("XH-02", "XH-03", "XH-04", "XH-05", "XH-06", "XH-07"),
    everywhere=True,
)
def judge_param_annotations(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            marks = annotations_of(tool)
            times = Counter(str(mark.value).lower() for mark in marks)
            for mark in marks:
                yield from _judge_value(mark, exchange)
                yield from _judge_place(mark, exchange)
                count = times[str(mark.value).lower()]
                expected = f"one parameter of {tool.get('name')} with header {mark.value}"
                yield observe("XH-05", count == 1, exchange, expected=expected, observed=f"{count} of them")


def _judge_value(mark: Annotation, exchange: Exchange) -> Iterator[Observation]:
    value = mark.value if isinstance(mark.value, str) else ""
    observed = f"{mark.value!r} at {'.'.join(mark.path)}"
    yield observe("XH-02", bool(value), exchange, expected="a name for the header", observed=observed)
    if value:
        valid = TOKEN.fullmatch(value) is not None
        yield observe("XH-03", valid, exchange, expected="a token (`1*tchar`)", observed=observed)
        controls = any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in value)
        yield observe("XH-04", not controls, exchange, expected="no control characters", observed=observed)


def _judge_place(mark: Annotation, exchange: Exchange) -> Iterator[Observation]:
    place = ".".join(mark.path) or "the root"
    if mark.types:
        valid = all(isinstance(kind, str) and kind in MIRRORED_TYPES for kind in mark.types)
        observed = f"{place} is {', '.join(map(str, mark.types))}"
        expected = "an integer, string or boolean parameter"
        yield observe("XH-06", valid, exchange, expected=expected, observed=observed)
    expected = "a parameter that is reached through `properties` alone"
    yield observe("XH-07", not mark.via, exchange, expected=expected, observed=f"{place}, through {mark.via}")


BY_FLAW: Final = {Flaw.MISSING: "XH-16", Flaw.CHARACTERS: "XH-17", Flaw.DIFFERENT: "XH-18"}


@check(
    "Headers of arguments must match the arguments",
    requirements=("XH-15", "XH-16", "XH-17", "XH-18", "XH-19"),
    transports=HTTP_ONLY,
)
def judge_param_headers(trace: Trace) -> Iterator[Observation]:
    tools = tools_in(trace.exchanges("tools/list"))
    for call in trace.calls:
        mirrors = param_mirrors(call, tools)
        if mirrors and not any(mirror.flaw for mirror in standard_mirrors(call, trace.revision)):
            yield from _judge_call(call, mirrors)


def _judge_call(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    present = [mirror for mirror in mirrors if mirror.value is not None]
    flawed = [mirror for mirror in present if mirror.flaw is not None and not _same_number(mirror)]
    observed = f"status {call.status}, error {call.code}"
    if len(flawed) == 1 and (flaw := flawed[0].flaw) is not None:
        expected = f"status 400 with error {HEADER_MISMATCH}: {flawed[0].header} is {flaw.value}"
        yield observe(BY_FLAW[flaw], is_mismatch(call), call, expected=expected, observed=observed)
    accepted = call.code != HEADER_MISMATCH
    for mirror in mirrors if not flawed else ():
        if mirror.value is None and mirror.sent is None:
            expected = f"no {mirror.header} to be required for an absent argument"
            yield observe("XH-15", accepted, call, expected=expected, observed=observed)
        elif _same_number(mirror) and mirror.flaw is not None:
            expected = f"{mirror.sent} to match {mirror.value}"
            yield observe("XH-19", accepted, call, expected=expected, observed=observed)


def _same_number(mirror: Mirror) -> bool:
    """Whether header and argument are the same integer, possibly in two notations."""
    if type(mirror.value) is not int or mirror.sent is None:
        return False
    try:
        return float(mirror.sent) == mirror.value
    except (ValueError, OverflowError):
        return False


# --- what the checks must catch


REGION: Final = "Mcp-Param-Region"


def _edited_parameter(name: str, fault: str, breaks: str, parameter: str, schema: Json) -> Saboteur:
    """A fault in a parameter of the tool of the everything server that has `x-mcp-header`."""

    @on_result(fault, id=name, breaks=breaks, method="tools/list", server="everything")
    def saboteur(result: Json, context: FaultContext) -> None:
        for tool in result["tools"]:
            properties = tool["inputSchema"].get("properties", {})
            if "region" in properties:
                properties.setdefault(parameter, {}).update(schema)

    return saboteur


NEWLINE: Final = "Region\r\nX-Admin: yes"
ITEMS: Final = {"type": "array", "items": {"type": "string", KEYWORD: "More"}}
PARAMETER_EDITS: Final = (
    _edited_parameter(
        "http.header-without-name", "marks a parameter with an empty name", "XH-02", "region", {KEYWORD: ""}
    ),
    _edited_parameter(
        "http.header-with-space", "marks a parameter with a space", "XH-03", "region", {KEYWORD: "Where To"}
    ),
    _edited_parameter(
        "http.header-with-newline", "marks a parameter with a newline", "XH-04", "region", {KEYWORD: NEWLINE}
    ),
    _edited_parameter(
        "http.header-twice",
        "marks two parameters with names that differ only in case",
        "XH-05",
        "depth",
        {KEYWORD: "REGION"},
    ),
    _edited_parameter(
        "http.header-of-number", "marks a parameter of type number", "XH-06", "depth", {"type": "number"}
    ),
    _edited_parameter("http.header-of-item", "marks the items of a list", "XH-07", "more", ITEMS),
)


@on_call("requires the header of an absent argument", breaks="XH-15", server="everything")
def param_header_always(request: Request, context: FaultContext) -> None:
    if context.method == "tools/call" and _region(context) is None:
        # The server behind refuses a missing Mcp-Name in the same way.
        request.set("Mcp-Name", None)


def _region(context: FaultContext) -> Any:
    return context.params.get("arguments", {}).get("region")


@on_call("accepts a call without the header of an argument", breaks="XH-16", server="everything")
def param_header_optional(request: Request, context: FaultContext) -> None:
    if request.header(REGION) is None and isinstance(_region(context), str):
        request.set(REGION, _region(context))


@on_call("accepts a header with invalid characters", breaks="XH-17", server="everything")
def param_letters_dropped(request: Request, context: FaultContext) -> None:
    if not (request.header(REGION) or "").isascii():
        request.set(REGION, _region(context))


@on_call("accepts any value in the header of an argument", breaks="XH-18", server="everything")
def param_header_not_read(request: Request, context: FaultContext) -> None:
    value = request.header(REGION)
    if value is not None and value.isascii() and isinstance(_region(context), str):
        request.set(REGION, _region(context))


@on_call("refuses 42.0 in a header for 42", breaks="XH-19", server="everything")
def param_number_as_text(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-param-depth") or "").endswith(".0"):
        request.set("Mcp-Param-Depth", "of another kind")
