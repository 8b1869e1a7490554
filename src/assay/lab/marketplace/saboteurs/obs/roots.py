"""Whose request it is, is not kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span("every span begins its trace", breaks="CONF-OBS-05.parent")
def change(span: Json) -> Json | None:
    return {name: value for name, value in span.items() if name != "parentSpanId"}
