"""An address is visited that was declined."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "an address is visited that was declined",
    breaks="EL-34",
    scenario="asking.url-declined",
    opens_declined=True,
    transports=EVERY,
)
