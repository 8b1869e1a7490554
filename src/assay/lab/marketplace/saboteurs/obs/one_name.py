"""All requests have the same name."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span("every span is called request", breaks="CONF-OBS-05.conventions", window=newest_of_each_kind)
def change(span: Json) -> Json | None:
    return {**span, "name": "request"}
