"""Tool definitions: the list, and JSON Schema 2020-12 keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.evidence import judge_list, lacking
from assay.lab.everything.fault import SCHEMA_TOOL, listed_schema
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_reply,
    on_result,
)
from assay.lab.harness.need import A_TOOL, declares
from assay.lab.harness.trace.listing import listings
from assay.lab.suite.list_offer import TOOLS, observe_order
from assay.revisions.revision import Structured

# --- what is asked


READINGS = 3


@official_scenario("tools-list", "The list of tools", needs=(declares("tools"), A_TOOL))
async def drive_tools_list(stage: Stage) -> None:
    peer = await stage.open()
    for _ in range(READINGS):
        await peer.pages("tools/list", "tools")


@official_scenario(
    "json-schema-2020-12",
    "The keywords of JSON Schema 2020-12 reach the client",
    needs=(fixture_tool("json_schema_2020_12_tool"),),
)
async def drive_json_schema_2020_12(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")


# --- how it is judged


LIST, NAMES, ORDER = "tools-list", "tools-name-format", "tools-list-deterministic-order"
NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@official_check(LIST, "Tools are listed in full", requirements=(LIST, NAMES, ORDER))
def judge_tools_list(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, LIST, "tools", _problem)
    for listing in listings(trace, "tools/list", "tools"):
        odd = [name for name in listing.names if NAME.fullmatch(name) is None]
        if listing.names:
            expected = "1 to 128 of the characters A-Z a-z 0-9 _ - ."
            yield observe(NAMES, not odd, listing, expected=expected, observed=", ".join(map(repr, odd)))
    yield from observe_order(trace, ORDER, TOOLS)


def _problem(tool: dict[str, Any]) -> str | None:
    if missing := lacking(tool, "name", "description"):
        return missing
    return None if isinstance(tool.get("inputSchema"), dict) else f"{tool['name']!r} without inputSchema"


TOOL: Final = "json_schema_2020_12_tool"
JSON_SCHEMA_2020_12_NAME: Final = "json-schema-2020-12"
FOUND: Final = f"{JSON_SCHEMA_2020_12_NAME}-tool-found"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def _object(value: Any) -> Schema:
    return value if isinstance(value, dict) else {}


def _address(schema: Schema) -> Any:
    return _object(schema.get("$defs")).get("address")


def _composed(schema: Schema) -> bool:
    parts = schema.get("allOf")
    return isinstance(parts, list) and any(isinstance(_object(one).get("anyOf"), list) for one in parts)


ALWAYS: Final[dict[str, tuple[str, Callable[[Schema], bool]]]] = {
    f"{JSON_SCHEMA_2020_12_NAME}-$schema": (
        f"`$schema`: {DIALECT}",
        lambda schema: schema.get("$schema") == DIALECT,
    ),
    f"{JSON_SCHEMA_2020_12_NAME}-$defs": (
        "`$defs` with `address`",
        lambda schema: isinstance(_address(schema), dict),
    ),
    f"{JSON_SCHEMA_2020_12_NAME}-additionalProperties": (
        "`additionalProperties: false`",
        lambda schema: schema.get("additionalProperties") is False,
    ),
}
SINCE_FREE_SCHEMAS: Final[dict[str, tuple[str, Callable[[Schema], bool]]]] = {
    "sep-2106-composition-keywords-preserved": ("`allOf` with a member that has `anyOf`", _composed),
    "sep-2106-conditional-keywords-preserved": (
        "`if`, `then` and `else`",
        lambda schema: all(isinstance(schema.get(key), dict) for key in ("if", "then", "else")),
    ),
    "sep-2106-anchor-keyword-preserved": (
        "`$anchor: addressDef` in `$defs.address`",
        lambda schema: _object(_address(schema)).get("$anchor") == "addressDef",
    ),
}
"""Before a schema might be any, a server that leaves these out is not blamed for it."""


@official_check(
    JSON_SCHEMA_2020_12_NAME,
    "A tool's schema keeps its keywords",
    requirements=(FOUND, *ALWAYS, *SINCE_FREE_SCHEMAS),
)
def judge_json_schema_2020_12(trace: Trace) -> Iterator[Observation]:
    free = trace.revision.structured is Structured.ANY
    for listing in (one for one in listings(trace, "tools/list", "tools") if one.complete):
        tool = next((tool for tool in listing.items if tool.get("name") == TOOL), None)
        yield observe(FOUND, tool is not None, listing, expected=f"the tool {TOOL}", observed="no such tool")
        schema = _object((tool or {}).get("inputSchema"))
        for row, (expected, keeps) in {**ALWAYS, **SINCE_FREE_SCHEMAS}.items() if tool else ():
            kept = keeps(schema)
            if kept or free or row in ALWAYS:
                observed = f"an inputSchema with {', '.join(sorted(schema))}"
                yield observe(row, kept, listing, expected=expected, observed=observed)


# --- what the checks must catch


@on_result(
    "the order of the tools changes from list to list",
    breaks="tools-list-deterministic-order",
    method="tools/list",
)
def shuffled(result: Json, context: FaultContext) -> None:
    context.memory["times"] = context.memory.get("times", 0) + 1
    result["tools"].sort(key=lambda tool: tool["name"], reverse=context.memory["times"] % 2 == 0)


@on_reply("`$defs` has become `definitions`", breaks="json-schema-2020-12-$defs")
def definitions_renamed(reply: Json, context: FaultContext) -> Json:
    if schema := listed_schema(reply, context):
        schema["definitions"] = schema.pop("$defs")
    return reply


@on_reply("a schema has lost `$schema`", breaks="json-schema-2020-12-$schema")
def schema_undated(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("$schema", None)
    return reply


@on_reply("a schema has lost `additionalProperties`", breaks="json-schema-2020-12-additionalProperties")
def anything_allowed(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("additionalProperties", None)
    return reply


@on_result(
    "the tool with the schema is not listed", breaks="json-schema-2020-12-tool-found", method="tools/list"
)
def schema_hidden(result: Json, context: FaultContext) -> None:
    listed = result["tools"]
    result["tools"] = [one for one in listed if one["name"] != SCHEMA_TOOL]


@on_reply(
    "a schema has lost `$anchor`",
    breaks="sep-2106-anchor-keyword-preserved",
    window=lambda revision: revision.structured is Structured.ANY,
)
def anchor_dropped(reply: Json, context: FaultContext) -> Json:
    if schema := listed_schema(reply, context):
        schema["$defs"]["address"].pop("$anchor")
    return reply


@on_reply(
    "a schema has lost `allOf`",
    breaks="sep-2106-composition-keywords-preserved",
    window=lambda revision: revision.structured is Structured.ANY,
)
def composition_dropped(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("allOf", None)
    return reply


@on_reply(
    "a schema has lost `else`",
    breaks="sep-2106-conditional-keywords-preserved",
    window=lambda revision: revision.structured is Structured.ANY,
)
def condition_cut(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("else", None)
    return reply


RESULT_EDITS: Final = edited_results(
    "tools/list",
    ("tools.undescribed", "a tool has no description", "tools-list", "tools.0.description", ABSENT),
    (
        "tools.name-with-spaces",
        "a tool's name has a space in it",
        "tools-name-format",
        "tools.0.name",
        "simple text",
    ),
)
