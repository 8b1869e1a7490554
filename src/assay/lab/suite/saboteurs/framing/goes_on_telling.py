"""A subscription that was cancelled goes on."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply, params_of
from assay.lab.harness.transport import STDIO_ONLY


def note(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["cancelled"] = params["requestId"]
    return message


@on_reply(
    "notifications go on after their subscription was cancelled",
    breaks="STD-10",
    transports=STDIO_ONLY,
    request=note,
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    if "cancelled" not in context.memory:
        return [reply]
    params = {"_meta": {SUBSCRIPTION_KEY: context.memory["cancelled"]}}
    return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}, reply]
