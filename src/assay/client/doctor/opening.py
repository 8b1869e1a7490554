"""The first message of the doctor, which needs nothing of HTTP."""

from __future__ import annotations

from typing import Any

from assay.model.version import VERSION
from assay.revisions.registry import HANDSHAKE


def initialize_params() -> dict[str, Any]:
    return {
        "protocolVersion": HANDSHAKE[-1].date,
        "capabilities": {},
        "clientInfo": {"name": "assay-doctor", "version": VERSION},
    }
