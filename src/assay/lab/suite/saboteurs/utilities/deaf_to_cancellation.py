"""Cancellations are thanked for, and the work goes on."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request(
    "a cancelled request is answered all the same",
    breaks="CAN-06",
    window=lambda revision: not revision.http.disconnect_cancels,
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    return Answered([]) if message.get("method") == "notifications/cancelled" else message
