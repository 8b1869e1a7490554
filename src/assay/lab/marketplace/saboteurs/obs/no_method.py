"""What was asked is in the name of the span alone."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.marketplace.obs_sabotaging import on_span, without


@on_span("spans do not carry rpc.method", breaks="CONF-OBS-05.names")
def change(span: Json) -> Json | None:
    return without(span, "rpc.method")
