"""The servers that faults of the area sec stand before."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.sabotage.saboteur import CERTIFIED, LOCKED

SERVER: Final = f"{LOCKED} reference --profile intelgraph"
CERTIFIED_SERVER: Final = f"{CERTIFIED} reference --profile intelgraph"
