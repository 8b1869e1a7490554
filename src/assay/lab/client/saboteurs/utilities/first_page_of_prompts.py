"""Only the first page of a list."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "only the first page of prompts is read",
    breaks="PR-13",
    scenario="utilities.all-used",
    transports=EVERY,
    follows_pages=False,
)
