"""A parser that raises is an internal error."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.model.error import INTERNAL_ERROR, PARSE_ERROR


@on_reply("text that is no JSON gets -32603", breaks="CONF-JRPC-03.malformed", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    return (
        {**reply, "error": {**error, "code": INTERNAL_ERROR}} if error.get("code") == PARSE_ERROR else reply
    )
