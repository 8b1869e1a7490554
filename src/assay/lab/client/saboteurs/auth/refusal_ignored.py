"""It goes on as if it were registered."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it goes on as if it were registered",
    breaks="AU-46",
    honours_refusal=False,
)
