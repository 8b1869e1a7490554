"""Methods are looked up before anyone asks for the id."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, newest_of_each_kind, on_request


@on_request(
    "a request without an id is served", breaks="CONF-JRPC-02.notifications", window=newest_of_each_kind
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if "id" in message or "method" not in message or message["method"].startswith("notifications/"):
        return message
    return Answered([{"jsonrpc": "2.0", "result": {}}])
