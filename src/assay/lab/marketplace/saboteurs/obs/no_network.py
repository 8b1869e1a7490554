"""Pipes and sockets look the same."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import on_span, without


@on_span("spans do not carry network.transport", breaks="CONF-OBS-05.conventions", window=newest_of_each_kind)
def change(span: Json) -> Json | None:
    return without(span, "network.transport")
