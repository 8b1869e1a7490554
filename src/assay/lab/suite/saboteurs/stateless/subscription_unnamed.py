"""Notifications are as they were before there were several streams."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply, params_of


@on_reply("notifications do not name their subscription", breaks="SUB-05")
def change(reply: Json, context: FaultContext) -> Json:
    params_of(reply).pop("_meta", None)
    return reply
