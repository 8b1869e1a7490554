"""It does not read where the challenge says that the metadata is."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not read where the challenge says that the metadata is",
    breaks="AU-12",
    scenario="auth/metadata-var3",
    honours_challenge=False,
)
