"""Nothing is to be seen of requests."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span("no span is exported", breaks="CONF-OBS-05.spans")
def change(span: Json) -> Json | None:
    return None
