"""Every client is taken for one of the same revision."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import having, on_span


@on_span(
    "mcp.protocol.version is of another revision",
    breaks="CONF-OBS-05.conventions",
    window=newest_of_each_kind,
)
def change(span: Json) -> Json | None:
    return having(span, "mcp.protocol.version", "1999-12-31")
