"""A tool's input schema is listed with all its keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Structured

TOOL: Final = "json_schema_2020_12_tool"
NAME: Final = "json-schema-2020-12"
FOUND: Final = f"{NAME}-tool-found"
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
    f"{NAME}-$schema": (f"`$schema`: {DIALECT}", lambda schema: schema.get("$schema") == DIALECT),
    f"{NAME}-$defs": ("`$defs` with `address`", lambda schema: isinstance(_address(schema), dict)),
    f"{NAME}-additionalProperties": (
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


@official_check(NAME, "A tool's schema keeps its keywords", rows=(FOUND, *ALWAYS, *SINCE_FREE_SCHEMAS))
def judge(trace: Trace) -> Iterator[Observation]:
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
