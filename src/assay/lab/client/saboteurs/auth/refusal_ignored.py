"""It goes on as if it were registered."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it goes on as if it were registered",
    breaks="AU-46",
    heeds_refusal=False,
)
