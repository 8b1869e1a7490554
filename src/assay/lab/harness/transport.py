"""The transports of the lab."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Transport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"
    """Streamable HTTP."""
    HTTP_SSE = "http-sse"
    """The two endpoints of the first revision."""
    WEBSOCKET = "ws"


ANY: Final = frozenset(Transport)
STDIO_ONLY: Final = frozenset({Transport.STDIO})
HTTP_ONLY: Final = frozenset({Transport.HTTP})
WEBSOCKET_ONLY: Final = frozenset({Transport.WEBSOCKET})
HTTP_SSE_ONLY: Final = frozenset({Transport.HTTP_SSE})
ONE_CHANNEL: Final = frozenset({Transport.STDIO, Transport.WEBSOCKET})
"""All messages of a conversation share one ordered channel."""
GUARDED: Final = frozenset({Transport.HTTP, Transport.WEBSOCKET})
"""Transports that carry a bearer token."""
