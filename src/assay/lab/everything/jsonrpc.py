"""Every message fits the schema of its revision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import ABSENT, FaultContext, Json, Observation, Trace, edited_results, on_reply
from assay.lab.harness.trace.shape import observed_shapes

from .declaration import official_check


@official_check("wire-schema-valid", "Messages fit the schema of the revision", everywhere=True)
def judge_wire_schema_valid(trace: Trace) -> Iterator[Observation]:
    yield from observed_shapes("wire-schema-valid", trace)


# --- what the checks must catch


@on_reply("returns `_meta: null`", breaks="wire-schema-valid", scenario="ping")
def null_member(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping" and "result" in reply:
        reply["result"] = {"_meta": None}
    return reply


RESULT_EDITS: Final = edited_results(
    "tools/call",
    (
        "jsonrpc.nothing-said",
        "returns a tool's result without content",
        "wire-schema-valid",
        "content",
        ABSENT,
    ),
    scenario="tools-call-error",
)
