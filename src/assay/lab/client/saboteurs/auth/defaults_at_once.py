"""It tries no metadata before the default endpoints."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import OF_OLD
from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it tries no metadata before the default endpoints",
    breaks="AU-29",
    scenario=f"{OF_OLD}oauth-endpoint-fallback",
    reads_server_metadata=False,
)
