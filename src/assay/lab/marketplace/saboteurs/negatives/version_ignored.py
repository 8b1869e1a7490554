"""Nobody looks at the version of JSON-RPC."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("a request is served whatever its `jsonrpc` is", breaks="CONF-JRPC-03.version")
def change(message: Json, context: FaultContext) -> Json:
    return {**message, "jsonrpc": "2.0"}
