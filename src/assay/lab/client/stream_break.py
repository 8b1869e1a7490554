"""A stream that ends before its answer: what it said of itself, and how long the client is to wait."""

from __future__ import annotations

from typing import Final

TOOL: Final = "test_reconnection"
RETRY: Final = 500
"""Milliseconds that the client is told to wait."""
BROKEN_AT: Final = "call-1"
"""The last event of the stream of the call."""
