"""A result of an unknown kind is taken for one."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "a result of an unknown kind is taken for one",
    breaks="BASE-19",
    scenario="asking.odd-result-type",
    knows_result_types=False,
    transports=EVERY,
)
