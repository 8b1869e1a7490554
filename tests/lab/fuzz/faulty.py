"""A small stdio server with an optional planted fault: `python faulty.py [surrogate|empty-name|load|leak]`.

It imports only the standard library, so that it has no other faults.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
TOOL = {"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
leaked: list[bytes] = []


def answer(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            return _result(
                protocolVersion=str(params.get("protocolVersion")),
                capabilities={"tools": {}},
                serverInfo={"name": "faulty", "version": "1"},
            )
        case "ping":
            return _result()
        case "tools/list":
            return _result(tools=[TOOL])
        case "tools/call" if params.get("name") == "echo":
            return _result(content=[{"type": "text", "text": "echo"}])
        case "tools/call":
            return _error(-32602, "no such tool")
    return _error(-32601, "no such method")


def _result(**members: Any) -> dict[str, Any]:
    return {"result": members}


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def reply(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {"jsonrpc": "2.0", **_error(-32700, "no JSON")}
    if not isinstance(message, dict) or not isinstance(message.get("method"), str) or not _is_sound(message):
        is_request = not isinstance(message, dict) or ("method" in message and "id" in message)
        return {"jsonrpc": "2.0", **_named(message), **_error(-32600, "no request")} if is_request else None
    if "id" not in message:
        return None
    return {"jsonrpc": "2.0", "id": message["id"], **answer(message)}


def _is_sound(message: dict[str, Any]) -> bool:
    sound_id = type(message.get("id", 0)) in (int, str)
    return message.get("jsonrpc") == "2.0" and sound_id and isinstance(message.get("params", {}), dict)


def _named(message: Any) -> dict[str, Any]:
    request_id = message.get("id") if isinstance(message, dict) else None
    return {"id": request_id} if type(request_id) in (int, str) else {}


def hurt(line: bytes) -> None:
    """The faults that affect the whole process."""
    if FAULT == "surrogate" and b"\\ud800" in line:
        os._exit(1)
    if FAULT == "empty-name" and b'"name":""' in line and b'"tools/call"' in line:
        threading.Event().wait()
    if FAULT == "leak":
        leaked.append(b"x" * 200_000)


def swapped(replies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of three replies to one read, two get wrong ids."""
    if FAULT == "load" and len(replies) >= 3:
        replies[0]["id"], replies[1]["id"] = replies[1].get("id"), "nobody's"
    return replies


def main() -> None:
    buffer = b""
    while data := os.read(0, 1 << 20):
        # Read everything that arrives at about the same time at once.
        while FAULT == "load" and select.select([0], [], [], 0.005)[0] and (rest := os.read(0, 1 << 20)):
            data += rest
        *lines, buffer = (buffer + data).split(b"\n")
        replies = []
        for line in lines:
            if line.strip():
                hurt(line)
                replies.append(reply(line))
        for answer in swapped([answer for answer in replies if answer is not None]):
            sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
