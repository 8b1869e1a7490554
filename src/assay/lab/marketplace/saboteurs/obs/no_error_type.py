"""What has failed is not to be seen."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span, without


@on_span(
    "a span with an error does not say of which type", breaks="CONF-OBS-05.errors", window=newest_of_each_kind
)
def change(span: Json) -> Json | None:
    return without(span, "error.type")
