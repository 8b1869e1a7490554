"""The server has traces of its own, and no client's."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span(
    "the trace of a request is not gone on with", breaks="CONF-OBS-05.parent", window=newest_of_each_kind
)
def change(span: Json) -> Json | None:
    return {**span, "traceId": "0af7651916cd43dd8448eb211c80319c", "parentSpanId": ""}
