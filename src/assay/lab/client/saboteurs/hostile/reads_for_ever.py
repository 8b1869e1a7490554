"""A list is read to its end, though it has none."""

from __future__ import annotations

from assay.lab.client.fixtures.endless import MOST
from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.transport import ONE_CHANNEL

saboteur = behaviour(
    "a list is read for as long as there is more",
    breaks="HOSTILE-11",
    scenario="hostile.ever-more-pages",
    transports=ONE_CHANNEL,
    most_pages=2 * MOST,
)
