"""The one call that every subject serves, and what its answer must hold.

The handshake wire, because all peers serve it; the newest of its revisions that they share.
"""

from __future__ import annotations

import json
from typing import Any, Final

REVISION: Final = "2025-11-25"
CALL: Final = (
    '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}'
)
INITIALIZE: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": "initialize",
    "method": "initialize",
    "params": {
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
HEADERS: Final = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
}


class WrongAnswer(Exception):
    """A subject answered, but not with the sum: its speed means nothing."""


def expect_sum(answer: bytes, request_id: int) -> None:
    """
    Raises:
        WrongAnswer: this is not `3` in answer to that request.
    """
    try:
        message = json.loads(answer)
        result = message["result"]
        right = (
            message["jsonrpc"] == "2.0"
            and message["id"] == request_id
            and not result.get("isError", False)
            and (result["structuredContent"] == {"result": 3})
            and result["content"][0]["type"] == "text"
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        right = False
    if not right:
        raise WrongAnswer(f"not the answer to call {request_id}: {answer[:300]!r}")
