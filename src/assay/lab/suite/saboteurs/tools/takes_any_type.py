"""Arguments are turned into text, whatever they are."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("an object is taken for a text", breaks="TL-23")
def change(message: Json, context: FaultContext) -> Json:
    arguments = params_of(message).get("arguments")
    if message.get("method") == "tools/call" and isinstance(arguments, dict):
        for name, value in arguments.items():
            arguments[name] = str(value) if isinstance(value, dict) else value
    return message
