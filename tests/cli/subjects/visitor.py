"""A small client to be judged, quick to start: `visitor.py URL`, or `visitor.py --server COMMAND`.

It takes the steps of its context that list or call tools, and does as its revision wants.
"""

from __future__ import annotations

import http.client
import json
import os
import shlex
import subprocess
import sys
from itertools import count
from typing import Any
from urllib.parse import urlsplit

REVISION = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
CONTEXT = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
SHAKES = REVISION < "2026"
INFO = {"name": "visitor", "version": "1"}
META = "io.modelcontextprotocol"
NUMBERS = count(1)


class Web:
    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._path = place.path
        self._connection = http.client.HTTPConnection(place.netloc, timeout=10)

    def send(self, message: dict[str, Any]) -> Any:
        self._connection.request("POST", self._path, json.dumps(message), self._headers(message))
        response = self._connection.getresponse()
        text = response.read().decode()
        if "event-stream" in (response.getheader("Content-Type") or ""):
            text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
        return json.loads(text) if text else None

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = REVISION
        if not SHAKES:
            name = message["params"].get("name")
            headers |= {"Mcp-Method": message["method"]} | ({"Mcp-Name": name} if name else {})
        return headers

    def close(self) -> None:
        self._connection.close()


class Pipe:
    def __init__(self, command: str) -> None:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(shlex.split(command), stdin=pipe, stdout=pipe)

    def send(self, message: dict[str, Any]) -> Any:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(message).encode() + b"\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline()) if "id" in message else None

    def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(10)


def ask(peer: Web | Pipe, method: str, params: dict[str, Any]) -> Any:
    if not SHAKES:
        about = {f"{META}/protocolVersion": REVISION, f"{META}/clientInfo": INFO}
        params = {**params, "_meta": {**about, f"{META}/clientCapabilities": {}}}
    return peer.send({"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params})


def main() -> None:
    peer = Pipe(sys.argv[2]) if sys.argv[1] == "--server" else Web(sys.argv[-1])
    if SHAKES:
        ask(peer, "initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": INFO})
        peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for step in CONTEXT["steps"]:
        if step["do"] == "list_tools":
            ask(peer, "tools/list", {})
        elif step["do"] == "call_tool":
            answer = ask(peer, "tools/call", {"name": step["name"], "arguments": step["arguments"]})
            print(answer["result"]["content"][0]["text"], flush=True)
    print(f"done with {os.environ['MCP_CONFORMANCE_SCENARIO']}", file=sys.stderr)
    peer.close()


if __name__ == "__main__":
    main()
