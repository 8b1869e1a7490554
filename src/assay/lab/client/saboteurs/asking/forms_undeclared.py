"""Forms are filled in without a word about it before."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "forms are filled in that were not declared",
    breaks="EL-01",
    scenario="asking.form-accepted",
    declares={},
    transports=EVERY,
)
