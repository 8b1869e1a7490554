"""Severities are counted from the wrong end."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of
from assay.lab.harness.trace.log_level import LEVELS, severity


@on_request("the level is taken for the one as far from the other end", breaks="LOG-02")
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "logging/setLevel" and "level" in params:
        level = severity(params["level"])
        params["level"] = LEVELS[-1 - level] if level is not None else "debug"
    return message
