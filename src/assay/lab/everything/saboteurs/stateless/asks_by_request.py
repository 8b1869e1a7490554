"""A tool asks its user by a request of its own."""

from __future__ import annotations

from assay.lab.everything.stateless_probe import ASKS
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a tool asks its user by a request",
    breaks="sep-2575-http-server-no-independent-requests-on-stream",
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.params.get("name") != ASKS or "result" not in reply:
        return [reply]
    form = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    params = {"message": "Please confirm", "requestedSchema": form}
    return [{"jsonrpc": "2.0", "id": "a question", "method": ELICIT, "params": params}, reply]
