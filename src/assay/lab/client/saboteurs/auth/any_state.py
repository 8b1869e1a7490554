"""It takes an answer with another state."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it takes an answer with another state",
    breaks="AU-88",
    scenario="auth.other-state",
    checks_state=False,
)
