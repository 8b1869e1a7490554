"""A client that listens to everything."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.transport import STDIO_ONLY

saboteur = behaviour(
    "a notification of another subscription is taken for its own",
    breaks="STD-08",
    transports=STDIO_ONLY,
    minds_subscriptions=False,
)
