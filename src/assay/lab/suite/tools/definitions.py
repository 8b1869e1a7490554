"""Tool definitions: names and input schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    observe,
    on_result,
    scenario,
)
from assay.lab.harness.need import A_TOOL, declares
from assay.lab.harness.trace.json_schema import schema_problem
from assay.lab.harness.trace.listing import Listing, listings

# --- what is asked


@scenario(
    "List every tool's definition",
    exercises=("tools.input-schema", "tools.names"),
    needs=(declares("tools"), A_TOOL),
    official="tools-list",
)
async def drive_definitions(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")


# --- how it is judged


@check("Every tool has a valid input schema", requirements=("TL-06",), everywhere=True)
def judge_input_schema(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.items("tools"):
            problem = _input_schema_problem(tool)
            yield observe(
                "TL-06",
                problem is None,
                exchange,
                expected="an `inputSchema` that is a valid JSON Schema with type object",
                observed=problem,
            )


def _input_schema_problem(tool: Any) -> str | None:
    if not isinstance(tool, dict):
        return f"a tool that is not an object: {tool!r}"
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"{tool.get('name')}: inputSchema {schema!r}"
    problem = schema_problem(schema)
    return problem and f"{tool.get('name')}: {problem}"


LONGEST: Final = 128
ALLOWED: Final = re.compile(r"[A-Za-z0-9_.-]*")
SPECIAL: Final = re.compile(r"[^\w.-]")
"""Spaces, commas and other special characters. Letters of other alphabets break TL-09 only."""


@check(
    "Tool names are short, plain and unique",
    requirements=("TL-07", "TL-09", "TL-10", "TL-11"),
    everywhere=True,
)
def judge_names(trace: Trace) -> Iterator[Observation]:
    for listing in listings(trace, "tools/list", "tools"):
        for name in listing.names:
            yield from _judge_name(name, listing)
        repeated = sorted({name for name in listing.names if listing.names.count(name) > 1})
        if listing.names:
            expected = "each name once"
            yield observe("TL-11", not repeated, listing, expected=expected, observed=", ".join(repeated))


def _judge_name(name: str, listing: Listing) -> Iterator[Observation]:
    yield observe(
        "TL-07",
        1 <= len(name) <= LONGEST,
        listing,
        expected=f"a name of 1 to {LONGEST} characters",
        observed=f"{len(name)} characters: {name[:40]!r}",
    )
    expected = "only letters A-Z and a-z, digits, underscore, hyphen and dot"
    plain = ALLOWED.fullmatch(name) is not None
    yield observe("TL-09", plain, listing, expected=expected, observed=repr(name))
    special = SPECIAL.search(name)
    yield observe("TL-10", special is None, listing, expected=expected, observed=repr(name))


# --- what the checks must catch


@on_result("a tool has a name of 200 characters", breaks="TL-07", method="tools/list")
def name_too_long(result: Json, context: FaultContext) -> None:
    result["tools"][0]["name"] = "service.v1." + "x" * 189


@on_result("two tools have the same name", breaks="TL-11", method="tools/list")
def name_twice(result: Json, context: FaultContext) -> None:
    result["tools"].append(result["tools"][0])


RESULT_EDITS: Final = edited_results(
    "tools/list",
    (
        "tools.schema-invalid",
        "`inputSchema` is not a valid JSON Schema",
        "TL-06",
        "tools.0.inputSchema",
        {"type": "object", "properties": {"when": {"type": "datetime"}}},
    ),
    ("tools.schema-null", "`inputSchema` is null", "TL-06", "tools.0.inputSchema", None),
    (
        "tools.name-of-other-letters",
        "a tool has a name with an umlaut",
        "TL-09",
        "tools.0.name",
        "w\u00e4hrung_umrechnen",
    ),
    (
        "tools.name-with-spaces",
        "a tool's name has spaces and a comma",
        "TL-10",
        "tools.0.name",
        "Get weather, now",
    ),
)
