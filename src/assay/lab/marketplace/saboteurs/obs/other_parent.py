"""Requests are hung below something else."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span(
    "spans have a parent that the client does not know",
    breaks="CONF-OBS-05.parent",
    window=newest_of_each_kind,
)
def change(span: Json) -> Json | None:
    return {**span, "parentSpanId": "00f067aa0ba902b7"}
