"""A mode that was not declared is taken all the same."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "a mode that was not declared is taken",
    breaks="EL-22",
    scenario="asking.url-undeclared",
    checks_declared=False,
    transports=EVERY,
)
