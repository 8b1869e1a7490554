"""A result that says nothing of itself is taken for a question."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing(
    "a result without resultType is taken as a question", breaks="sep-2322-default-result-type-complete"
)
def change(message: Json, guest: Guest) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or "resultType" in result:
        return message
    question = {
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object"}},
    }
    return {**message, "result": {"resultType": "input_required", "inputRequests": {"confirm": question}}}
