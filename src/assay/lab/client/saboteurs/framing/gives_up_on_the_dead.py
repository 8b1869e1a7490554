"""A client without a server."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.transport import STDIO_ONLY

saboteur = behaviour(
    "a server that died is not started again", breaks="STD-13", transports=STDIO_ONLY, restarts=False
)
