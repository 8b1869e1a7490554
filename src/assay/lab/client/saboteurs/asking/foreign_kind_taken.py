"""A result of an extension that was not agreed on is taken for one."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "a result of an extension that was not declared is taken",
    breaks="BASE-20",
    scenario="asking.foreign-result-type",
    knows_result_types=False,
    transports=EVERY,
)
