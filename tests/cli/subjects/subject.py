"""A small server on stdio with a choice of faults, to be judged: `python subject.py FAULT [FILE]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from assay.revisions.registry import HANDSHAKE

VERSIONS = [revision.date for revision in HANDSHAKE]
INFO = {"name": "small", "version": "1"}


def answer(message: dict[str, Any], fault: str) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            requested = message["params"]["protocolVersion"]
            version = requested if requested in VERSIONS else VERSIONS[-1]
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO}}
        case "ping":
            return {"result": {}}
        case "tools/list":
            name = "a tool" if fault == "spaced" else "tool"
            return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}}]}}
        case "no/such/method" if fault == "silent":
            return {}
    return {"error": {"code": -32600 if fault == "wrong-code" else -32601, "message": "no such method"}}


def every_second_time(file: Path) -> bool:
    times = len(file.read_text("utf-8")) if file.exists() else 0
    file.write_text("x" * (times + 1), "utf-8")
    return times % 2 == 1


def main(fault: str, *rest: str) -> None:
    if fault == "flaky":
        fault = "wrong-code" if every_second_time(Path(rest[0])) else "none"
    for line in sys.stdin:
        message = json.loads(line)
        content = answer(message, fault) if "id" in message else {}
        if content:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **content}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
