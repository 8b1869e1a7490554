"""A server that is left behind."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.transport import STDIO_ONLY

saboteur = behaviour(
    "a server that does not end is left alone", breaks="STD-11", transports=STDIO_ONLY, insists=False
)
