"""The server that faults of the area sec stand before."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.saboteur import LOCKED

SERVER: Final = f"{LOCKED} reference --profile intelgraph"
