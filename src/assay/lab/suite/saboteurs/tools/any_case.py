"""Names are looked up in lower case."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of
from assay.lab.harness.transport import STDIO_ONLY


@on_request("tools are found in any letter case", breaks="TL-08", transports=STDIO_ONLY)
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "tools/call" and isinstance(params.get("name"), str):
        params["name"] = params["name"].lower()
    return message
