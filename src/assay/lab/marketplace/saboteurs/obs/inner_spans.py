"""Nobody can tell a request from what is done for it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span("the spans of requests are of kind INTERNAL", breaks="CONF-OBS-05.spans", window=newest_of_each_kind)
def change(span: Json) -> Json | None:
    return {**span, "kind": 1}
