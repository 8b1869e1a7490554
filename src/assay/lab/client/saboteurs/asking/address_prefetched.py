"""An address is visited before anybody was asked."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "an address is visited before the user agrees",
    breaks="EL-33",
    scenario="asking.url-declined",
    previews_addresses=True,
    transports=EVERY,
)
