"""Tool definitions: the list, and JSON Schema 2020-12 keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.evidence import judge_list, lacking
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
    on_result,
)
from assay.lab.harness.need import A_TOOL, declares
from assay.lab.harness.trace.listing import listings
from assay.lab.suite.list_offer import TOOLS, observe_order
from assay.lab.suite.self_description import as_object
from assay.revisions.revision import Structured

# --- what is asked


TOOL: Final = "json_schema_2020_12_tool"


REPEATS = 3


@official_scenario("tools-list", "List tools three times", needs=(declares("tools"), A_TOOL))
async def drive_tools_list(stage: Stage) -> None:
    peer = await stage.open()
    for _ in range(REPEATS):
        await peer.pages("tools/list", "tools")


@official_scenario(
    "json-schema-2020-12", "List a tool with keywords of JSON Schema 2020-12", needs=(fixture_tool(TOOL),)
)
async def drive_json_schema_2020_12(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")


# --- how it is judged


LIST, NAMES, ORDER = "tools-list", "tools-name-format", "tools-list-deterministic-order"
NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@official_check(LIST, "Tools are listed with name, description and schema", requirements=(LIST, NAMES, ORDER))
def judge_tools_list(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, LIST, "tools", _problem)
    for listing in listings(trace, "tools/list", "tools"):
        invalid = [name for name in listing.names if NAME.fullmatch(name) is None]
        if listing.names:
            expected = "1 to 128 of the characters A-Z a-z 0-9 _ - ."
            yield observe(
                NAMES, not invalid, listing, expected=expected, observed=", ".join(map(repr, invalid))
            )
    yield from observe_order(trace, ORDER, TOOLS)


def _problem(tool: dict[str, Any]) -> str | None:
    if missing := lacking(tool, "name", "description"):
        return missing
    return None if isinstance(tool.get("inputSchema"), dict) else f"{tool['name']!r} without inputSchema"


KEYWORDS: Final = "json-schema-2020-12"
LISTED: Final = f"{KEYWORDS}-tool-found"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def _address(schema: Schema) -> Any:
    return as_object(schema.get("$defs")).get("address")


def _composed(schema: Schema) -> bool:
    parts = schema.get("allOf")
    return isinstance(parts, list) and any(isinstance(as_object(part).get("anyOf"), list) for part in parts)


ALWAYS: Final[dict[str, tuple[str, Callable[[Schema], bool]]]] = {
    f"{KEYWORDS}-$schema": (f"`$schema`: {DIALECT}", lambda schema: schema.get("$schema") == DIALECT),
    f"{KEYWORDS}-$defs": ("`$defs` with `address`", lambda schema: isinstance(_address(schema), dict)),
    f"{KEYWORDS}-additionalProperties": (
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
        lambda schema: as_object(_address(schema)).get("$anchor") == "addressDef",
    ),
}
"""Required since a schema may be any JSON Schema; earlier, a server may omit these."""


@official_check(
    KEYWORDS, "The schema of a tool keeps its keywords", requirements=(LISTED, *ALWAYS, *SINCE_FREE_SCHEMAS)
)
def judge_json_schema_2020_12(trace: Trace) -> Iterator[Observation]:
    free = trace.revision.structured is Structured.ANY
    for listing in filter(lambda listing: listing.complete, listings(trace, "tools/list", "tools")):
        tool = next((tool for tool in listing.items if tool.get("name") == TOOL), None)
        yield observe(LISTED, tool is not None, listing, expected=f"the tool {TOOL}", observed="no such tool")
        schema = as_object((tool or {}).get("inputSchema"))
        for requirement, (expected, keeps) in {**ALWAYS, **SINCE_FREE_SCHEMAS}.items() if tool else ():
            holds = keeps(schema)
            if holds or free or requirement in ALWAYS:
                observed = f"an inputSchema with {', '.join(sorted(schema))}"
                yield observe(requirement, holds, listing, expected=expected, observed=observed)


# --- what the checks must catch


@on_result("changes the order of tools", breaks="tools-list-deterministic-order", method="tools/list")
def shuffled(result: Json, context: FaultContext) -> None:
    context.memory["times"] = context.memory.get("times", 0) + 1
    result["tools"].sort(key=lambda tool: tool["name"], reverse=context.memory["times"] % 2 == 0)


def _edit_schema(edit: Callable[[Schema], object]) -> Callable[[Json, FaultContext], None]:
    def change(result: Json, context: FaultContext) -> None:
        for tool in result["tools"]:
            if tool["name"] == TOOL:
                edit(tool["inputSchema"])

    return change


def _drop(key: str) -> Callable[[Schema], object]:
    return lambda schema: schema.pop(key)


SCHEMA_FAULTS: Final = tuple(
    on_result(
        fault,
        id=f"tools.{name}",
        breaks=breaks,
        method="tools/list",
        window=lambda revision, breaks=breaks: breaks in ALWAYS or revision.structured is Structured.ANY,
    )(_edit_schema(edit))
    for name, fault, breaks, edit in (
        (
            "definitions-renamed",
            "renames `$defs` to `definitions`",
            f"{KEYWORDS}-$defs",
            lambda schema: schema.update(definitions=schema.pop("$defs")),
        ),
        ("schema-undated", "drops `$schema`", f"{KEYWORDS}-$schema", _drop("$schema")),
        (
            "anything-allowed",
            "drops `additionalProperties`",
            f"{KEYWORDS}-additionalProperties",
            _drop("additionalProperties"),
        ),
        (
            "anchor-dropped",
            "drops `$anchor`",
            "sep-2106-anchor-keyword-preserved",
            lambda schema: schema["$defs"]["address"].pop("$anchor"),
        ),
        ("composition-dropped", "drops `allOf`", "sep-2106-composition-keywords-preserved", _drop("allOf")),
        ("condition-cut", "drops `else`", "sep-2106-conditional-keywords-preserved", _drop("else")),
    )
)


@on_result("does not list the tool", breaks="json-schema-2020-12-tool-found", method="tools/list")
def schema_hidden(result: Json, context: FaultContext) -> None:
    result["tools"] = [tool for tool in result["tools"] if tool["name"] != TOOL]


RESULT_EDITS: Final = edited_results(
    "tools/list",
    ("tools.undescribed", "lists a tool without a description", "tools-list", "tools.0.description", ABSENT),
    (
        "tools.name-with-spaces",
        "lists a name with a space",
        "tools-name-format",
        "tools.0.name",
        "simple text",
    ),
)
