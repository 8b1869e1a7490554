"""It looks at the root before it looks at the endpoint's path."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it looks at the root before it looks at the endpoint's path",
    breaks="AU-13",
    scenario="auth/metadata-var1",
    asks_root_first=True,
)
