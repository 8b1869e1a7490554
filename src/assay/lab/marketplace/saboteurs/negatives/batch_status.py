"""A batch is refused with a status that says that all went well."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, newest_of_each_kind, on_response


@on_response("a batch is refused with HTTP 200", breaks="CONF-JRPC-03.batch", window=newest_of_each_kind)
def change(response: Response, context: FaultContext) -> None:
    if context.call is not None and context.call.body.startswith(b"["):
        response.status = 200
