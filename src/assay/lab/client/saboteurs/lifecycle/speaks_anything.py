"""A client for which every version is good."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS
from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "the client goes on with a version that nobody knows",
    breaks="LIFE-12",
    transports=CLIENTS,
    accepts_any_version=True,
)
