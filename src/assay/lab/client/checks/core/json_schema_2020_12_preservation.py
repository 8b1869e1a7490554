"""The schema of a tool is the same after a client has read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.lab.client.fixtures.rich_schema import ECHO, SCHEMA
from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

FOUND = "json-schema-2020-12-client-tool-found"
ECHOED = "json-schema-2020-12-client-echo-completed"
DEFINED = "json-schema-2020-12-client-$defs-preserved"
ANCHORED = "sep-2106-client-anchor-keyword-preserved"
# By row: the words of the schema that it is about.
WORDS = {
    "json-schema-2020-12-client-$schema-preserved": ("$schema",),
    "json-schema-2020-12-client-additionalProperties-preserved": ("additionalProperties",),
    "sep-2106-client-composition-keywords-preserved": ("allOf",),
    "sep-2106-client-conditional-keywords-preserved": ("if", "then", "else"),
}
ANCHOR = "$anchor"


@official_check(
    "json-schema-2020-12-preservation",
    "Schemas are kept as they are",
    rows=(FOUND, ECHOED, DEFINED, ANCHORED, *WORDS),
)
def judge(trace: Trace) -> Iterator[Observation]:
    owed = {FOUND: "a request tools/list", ECHOED: f"a call of {ECHO} with the schema"}
    yield from with_owed(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for listing in trace.inquiries("tools/list"):
        yield observe(FOUND, True, listing, expected="", observed="")
    for call in trace.inquiries("tools/call"):
        if call.params.get("name") == ECHO:
            yield from _compared(call)


def _compared(call: Exchange) -> Iterator[Observation]:
    arguments = call.params.get("arguments")
    schema = arguments.get("schema") if isinstance(arguments, dict) else None
    told = type(schema).__name__
    yield observe(ECHOED, isinstance(schema, dict), call, expected="an object `schema`", observed=told)
    if not isinstance(schema, dict):
        return
    for row, words in WORDS.items():
        yield _same(row, call, _only(SCHEMA, words), _only(schema, words))
    kept, given = _address(SCHEMA), _address(schema)
    yield _same(ANCHORED, call, kept.get(ANCHOR), given.get(ANCHOR))
    # The anchor has a row of its own, which is not in force wherever this one is.
    yield _same(DEFINED, call, _without(kept, ANCHOR), _without(given, ANCHOR))


def _same(row: str, call: Exchange, kept: Any, given: Any) -> Observation:
    return observe(row, _text(kept) == _text(given), call, expected=_text(kept), observed=_text(given))


def _text(value: Any) -> str:
    """The same for values that are equal as JSON, where false is no 0."""
    return msgspec.json.encode(value, order="deterministic").decode()


def _only(schema: dict[str, Any], words: tuple[str, ...]) -> dict[str, Any]:
    return {word: schema[word] for word in words if word in schema}


def _without(fields: dict[str, Any], word: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != word}


def _address(schema: dict[str, Any]) -> dict[str, Any]:
    """The one definition that the schema holds."""
    defined = schema.get("$defs")
    address = defined.get("address") if isinstance(defined, dict) else None
    return address if isinstance(address, dict) else {}
