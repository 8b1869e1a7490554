"""Half a handshake."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS
from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "`notifications/initialized` is never sent",
    breaks="LIFE-04",
    transports=CLIENTS,
    scenario="tools_call",
    announces=False,
)
