"""A client that reads no schema of results."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS
from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "structured results are not held against their schema",
    breaks="TL-16",
    transports=CLIENTS,
    validates_output=False,
)
