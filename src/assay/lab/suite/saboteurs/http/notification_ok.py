"""Notifications are thanked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a notification gets 200 and an empty object", breaks="HTTP-10")
def change(response: Response, context: FaultContext) -> None:
    if response.status == 202:
        response.status = 200
        response.set("Content-Type", "application/json")
        response.body = b"{}"
