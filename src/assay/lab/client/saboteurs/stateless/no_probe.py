"""A client that does not ask first."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.transport import STDIO_ONLY

saboteur = behaviour("a server on stdio is not probed", breaks="VER-11", transports=STDIO_ONLY, probes=False)
