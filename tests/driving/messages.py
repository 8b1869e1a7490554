"""JSON-RPC messages as a client writes them."""

from __future__ import annotations

from typing import Any

from assay.revisions.revision import Revision


def request(method: str, params: Any = None, request_id: int | str = 1) -> dict[str, Any]:
    optional = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": request_id, "method": method, **optional}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}


def call(name: str, request_id: int | str = 1, /, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments}, request_id)


def initialize(revision: Revision | str, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    params = {
        "protocolVersion": str(revision),
        "capabilities": capabilities or {},
        "clientInfo": {"name": "tests", "version": "1"},
    }
    return request("initialize", params, "initialize")
