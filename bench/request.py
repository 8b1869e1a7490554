"""The one call that every subject serves, and what its answer must hold.

On the handshake wire, because all peers serve it, in the newest of its revisions that they share; and on the
wire of the revision after it, where each request describes itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
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
WRAPPED: Final = {"result": 3}
PER_REQUEST: Final = "2026-07-28"
DESCRIPTION: Final = {
    "io.modelcontextprotocol/protocolVersion": PER_REQUEST,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class Wire:
    """How the call looks over HTTP. `name` is that of its table in a result, `result_type` what marks an
    answer of this wire, `sums` how it may hold the sum."""

    name: str
    body: str
    headers: dict[str, str]
    result_type: str | None = None
    sums: tuple[Any, ...] = (WRAPPED,)


def described(call: str) -> str:
    message = json.loads(call)
    message["params"]["_meta"] = DESCRIPTION
    return json.dumps(message, separators=(",", ":"))


HANDSHAKE_WIRE: Final = Wire("http", CALL % 1, HEADERS)
PER_REQUEST_WIRE: Final = Wire(
    "http_per_request",
    described(CALL % 1),
    {**HEADERS, "mcp-protocol-version": PER_REQUEST, "mcp-method": "tools/call", "mcp-name": "add"},
    "complete",
    (WRAPPED, 3),
)


class WrongAnswer(Exception):
    """A subject answered, but not with the sum: its speed means nothing."""


def expect_sum(answer: bytes, request_id: int, sums: tuple[Any, ...] = (WRAPPED,)) -> None:
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
            and result["structuredContent"] in sums
            and result["content"][0]["type"] == "text"
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        right = False
    if not right:
        raise WrongAnswer(f"not the answer to call {request_id}: {answer[:300]!r}")


def expect_answer(answer: bytes, wire: Wire) -> None:
    """
    Raises:
        WrongAnswer: this is not `3` as an answer of that wire.
    """
    expect_sum(answer, 1, wire.sums)
    result_type = json.loads(answer)["result"].get("resultType")
    if result_type != wire.result_type:
        raise WrongAnswer(f"an answer of another wire: {result_type!r} instead of {wire.result_type!r}")
