"""A client that is told in vain."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS
from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "a change does not end what was kept", breaks="CA-12", transports=CLIENTS, honours_changes=False
)
