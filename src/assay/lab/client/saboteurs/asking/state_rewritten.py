"""The state is read and written anew."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "`requestState` is changed on its way back",
    breaks="MR-15",
    scenario="asking.several-rounds",
    echoes_state=False,
    transports=EVERY,
)
