"""What clients do wrong wakes those who run the server."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, newest_of_each_kind
from assay.lab.marketplace.obs_sabotaging import has, on_span


@on_span(
    "a request of an unknown method is a span with an error",
    breaks="CONF-OBS-05.errors",
    window=newest_of_each_kind,
)
def change(span: Json) -> Json | None:
    refused = has(span, "rpc.response.status_code", "-32601")
    return {**span, "status": {"code": 2}} if refused else span
