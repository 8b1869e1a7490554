"""A cancelled request is answered after all, with an error that says so."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply, params_of
from assay.lab.harness.transport import STDIO_ONLY


def note(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["late"] = params["requestId"]
    return message


@on_reply("a cancelled request is answered, late", breaks="STD-10", transports=STDIO_ONLY, request=note)
def change(reply: Json, context: FaultContext) -> list[Json]:
    if "late" not in context.memory:
        return [reply]
    # What comes with the first answer after it may have been on its way.
    context.memory["answers"] = context.memory.get("answers", 0) + 1
    late = {"code": -32800, "message": "the request was cancelled"}
    told = context.memory["answers"] == 2
    return [{"jsonrpc": "2.0", "id": context.memory["late"], "error": late}, reply] if told else [reply]
