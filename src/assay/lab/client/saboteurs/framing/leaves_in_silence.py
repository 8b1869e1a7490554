"""A client that walks off."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.transport import STDIO_ONLY

saboteur = behaviour(
    "a request is given up without a word", breaks="STD-09", transports=STDIO_ONLY, cancels=False
)
