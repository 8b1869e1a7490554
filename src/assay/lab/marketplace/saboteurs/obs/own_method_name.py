"""The conventions are not kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.marketplace.obs_sabotaging import on_span, without


@on_span("spans do not carry mcp.method.name", breaks="CONF-OBS-05.conventions")
def change(span: Json) -> Json | None:
    return without(span, "mcp.method.name")
