"""`initialize` is still answered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import HTTP_ONLY


@on_request(
    "`initialize` is answered as in earlier revisions",
    breaks="sep-2575-http-server-method-not-found-404-initialize",
    transports=HTTP_ONLY,
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "initialize":
        return message
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}])
