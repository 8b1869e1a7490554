"""A small server on stdio with a planted fault: `python faulty.py [surrogate|empty-name|load|leak]`, or none.

It stands on nothing but the standard library, so that its faults are its own.
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
kept: list[bytes] = []


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
    found = message.get("id") if isinstance(message, dict) else None
    return {"id": found} if type(found) in (int, str) else {}


def hurt(line: bytes) -> None:
    """What the faults do to a server, besides answering wrongly."""
    if FAULT == "surrogate" and b"\\ud800" in line:
        os._exit(1)
    if FAULT == "empty-name" and b'"name":""' in line and b'"tools/call"' in line:
        threading.Event().wait()
    if FAULT == "leak":
        kept.append(b"x" * 200_000)


def swapped(replies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With three in one reading, two get each other's ids."""
    if FAULT == "load" and len(replies) >= 3:
        replies[0]["id"], replies[1]["id"] = replies[1].get("id"), "nobody's"
    return replies


def main() -> None:
    held = b""
    while data := os.read(0, 1 << 20):
        # What is on its way belongs to the same reading, however the pipe was filled.
        while FAULT == "load" and select.select([0], [], [], 0.005)[0] and (more := os.read(0, 1 << 20)):
            data += more
        *lines, held = (held + data).split(b"\n")
        replies = []
        for line in (one for one in lines if one.strip()):
            hurt(line)
            replies.append(reply(line))
        for one in swapped([one for one in replies if one is not None]):
            sys.stdout.write(json.dumps(one) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
