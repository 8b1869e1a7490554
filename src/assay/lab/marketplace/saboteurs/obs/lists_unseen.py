"""Only what is done is seen, and not what is looked up."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span


@on_span("requests for lists have no span", breaks="CONF-OBS-05.spans", window=newest_of_each_kind)
def change(span: Json) -> Json | None:
    return None if span["name"].endswith("/list") else span
