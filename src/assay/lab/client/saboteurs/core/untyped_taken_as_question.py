"""A result that says nothing of itself is taken for a question."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing(
    "a result without resultType is taken as a question", breaks="sep-2322-default-result-type-complete"
)
def change(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or "resultType" in result:
        return message
    question = {
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object"}},
    }
    return {**message, "result": {"resultType": "input_required", "inputRequests": {"confirm": question}}}
