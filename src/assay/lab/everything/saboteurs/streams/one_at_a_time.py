"""Who is busy serves nobody else."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a second request at the same time is refused", breaks="server-accepts-multiple-post-streams")
def change(request: Request, context: FaultContext) -> Response | None:
    if b'"tools/list"' not in request.body:
        return None
    context.memory["asked"] = context.memory.get("asked", 0) + 1
    return Response([], 429, b"") if context.memory["asked"] > 1 else None
