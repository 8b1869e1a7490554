"""The call that every subject serves, and its expected answer.

It is sent in the newest handshake revision that all peers support, and in the revision after it, where each
request describes itself.
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
DECLARATION: Final = {
    "io.modelcontextprotocol/protocolVersion": PER_REQUEST,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class Wire:
    """The call over HTTP in one revision. `name` is that of its table in a result, `result_type` the expected
    type of the answer, `sums` the accepted forms of the sum."""

    name: str
    body: str
    headers: dict[str, str]
    result_type: str | None = None
    sums: tuple[Any, ...] = (WRAPPED,)


def with_declaration(call: str) -> str:
    message = json.loads(call)
    message["params"]["_meta"] = DECLARATION
    return json.dumps(message, separators=(",", ":"))


HANDSHAKE_WIRE: Final = Wire("http", CALL % 1, HEADERS)
PER_REQUEST_WIRE: Final = Wire(
    "http_per_request",
    with_declaration(CALL % 1),
    {**HEADERS, "mcp-protocol-version": PER_REQUEST, "mcp-method": "tools/call", "mcp-name": "add"},
    "complete",
    (WRAPPED, 3),
)


class WrongAnswer(Exception):
    """A subject answered, but not with the sum: its speed is meaningless."""


def expect_sum(answer: bytes, request_id: int, sums: tuple[Any, ...] = (WRAPPED,)) -> None:
    """
    Raises:
        WrongAnswer: the answer is not `3`, or has another id.
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
        WrongAnswer: the answer is not `3`, or has another form.
    """
    expect_sum(answer, 1, wire.sums)
    result_type = json.loads(answer)["result"].get("resultType")
    if result_type != wire.result_type:
        raise WrongAnswer(f"wrong result type: {result_type!r} instead of {wire.result_type!r}")
