"""What can go wrong with a request, as the kinds that a result counts."""

from __future__ import annotations

from typing import Final

CONNECT: Final = "connect"
"""No connection, or the opening of the session failed."""
RESET: Final = "reset"
"""The connection ended before the answer was complete."""
TIMEOUT: Final = "timeout"
INVALID: Final = "invalid answer"
"""Not HTTP, not JSON, not JSON-RPC, or the answer to another request."""
TOO_LARGE: Final = "too large"
TOOL: Final = "tool error"
"""A result with `isError`."""
UNSENT: Final = "not sent"
"""At a fixed rate: no connection was free until the end."""
OTHER: Final = "other"
MOST_KINDS: Final = 40
"""A server chooses the codes of its errors: more kinds are counted together."""


def http_status(status: int) -> str:
    return f"http {status}"


def rpc_code(code: int) -> str:
    return f"rpc {code}"
