"""A state that does not come back."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "the state is not given back",
    breaks="sep-2322-client-request-state-echoed",
    transports=EVERY,
    echoes_state=False,
)
