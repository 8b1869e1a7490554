"""A cancellation is confirmed by sending it back."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.revisions.revision import Asking


@on_request(
    "the server cancels a request of its client",
    breaks="CAN-01",
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    return Answered([message]) if message.get("method") == "notifications/cancelled" else message
