"""There are no manifests."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, newest_of_each_kind, on_call
from assay.lab.marketplace.cap_sabotaging import is_manifest


@on_call("no manifest is served", breaks="CONF-CAP-03.manifests.form", window=newest_of_each_kind)
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404) if is_manifest(context) else None
