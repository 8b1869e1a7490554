"""A client that does not wait."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "the delay that the server asked for is not kept",
    breaks="HTTP-26",
    scenario="streams.resumed",
    honours_retry=False,
)
