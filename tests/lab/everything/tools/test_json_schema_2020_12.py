"""Keywords of a tool's schema: which are promised depends on the revision."""

from typing import Any

from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from tests.lab.everything.observing import broken, held, seen
from tests.lab.everything.talking import talk

CHECK = "json-schema-2020-12"
PLAIN = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"address": {"$anchor": "addressDef"}},
    "additionalProperties": False,
}
FULL = {**PLAIN, "allOf": [{"anyOf": []}], "if": {}, "then": {}, "else": {}}
NEWER = {f"sep-2106-{name}-preserved" for name in ("composition-keywords", "conditional-keywords")}


def listed(schema: dict[str, Any], revision: Revision) -> Trace:
    tool = {"name": "json_schema_2020_12_tool", "inputSchema": schema}
    return talk(("tools/list", {}, {"tools": [tool]}), revision=revision)


def test_schema_that_keeps_everything_holds_everywhere() -> None:
    for revision in (HANDSHAKE[-1], PER_REQUEST[-1]):
        assert len(held(CHECK, listed(FULL, revision))) == 7


def test_newer_keywords_are_wanted_only_where_schemas_are_free() -> None:
    assert broken(CHECK, listed(PLAIN, PER_REQUEST[-1])) == NEWER
    assert broken(CHECK, listed(PLAIN, HANDSHAKE[-1])) == set()
    assert not NEWER & held(CHECK, listed(PLAIN, HANDSHAKE[-1]))


def test_tool_that_is_not_listed_is_found() -> None:
    trace = talk(("tools/list", {}, {"tools": []}), revision=PER_REQUEST[-1])
    assert seen(CHECK, trace) == [("json-schema-2020-12-tool-found", False)]
