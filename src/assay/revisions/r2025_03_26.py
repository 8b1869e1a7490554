"""Streamable HTTP, batches, audio, tool annotations, the completions capability."""

from __future__ import annotations

from .r2024_11_05 import REVISION as PREDECESSOR
from .revision import Batching

REVISION = PREDECESSOR.successor(
    "2025-03-26",
    batching=Batching.ACCEPTED,
    added={"content": {"audio"}, "capabilities": {"completions"}},
)
