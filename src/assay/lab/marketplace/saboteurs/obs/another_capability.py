"""Every call is taken for one of the same tool."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import having, on_span


@on_span("capability.name is of another tool", breaks="CONF-OBS-05.names", window=newest_of_each_kind)
def change(span: Json) -> Json | None:
    return having(span, "capability.name", "another")
