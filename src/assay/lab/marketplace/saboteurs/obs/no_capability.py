"""Which tool, resource or prompt it was, is not kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span, without


@on_span("spans do not carry capability.name", breaks="CONF-OBS-05.names", window=newest_of_each_kind)
def change(span: Json) -> Json | None:
    return without(span, "capability.name")
