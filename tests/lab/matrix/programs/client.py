"""A client in the standard library alone; the first argument is how it behaves, the last is the address."""

import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
from urllib.parse import urlsplit

MANNER, ADDRESS = sys.argv[1], sys.argv[-1]
REVISION = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
STEPS = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["steps"]
METHODS = {"list_tools": "tools/list", "call_tool": "tools/call", "ping": "ping"}


class Stdio:
    def __init__(self) -> None:
        self.server = subprocess.Popen(
            shlex.split(ADDRESS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, message: dict) -> dict | None:
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline()) if "id" in message else None

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait()


class Http:
    def __init__(self) -> None:
        parts = urlsplit(ADDRESS)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port)
        self.path = parts.path
        self.version = {}

    def send(self, message: dict) -> dict | None:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self.connection.request("POST", self.path, json.dumps(message), headers | self.version)
        body = self.connection.getresponse().read()
        self.version = {"MCP-Protocol-Version": REVISION}
        return json.loads(body) if body else None

    def close(self) -> None:
        self.connection.close()


def request(link: Stdio | Http, number: int, method: str, params: dict) -> dict:
    return link.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


if MANNER == "unsupported":
    sys.exit(127)
if MANNER == "crash":
    sys.exit("ImportError: no module named mcp")
link = Http() if ADDRESS.startswith("http") else Stdio()
info = {"name": "tiny", "version": "1"}
opening = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
request(link, 0, "initialize", opening)
link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
for number, step in enumerate(STEPS):
    do, rest = step["do"], {key: value for key, value in step.items() if key != "do"}
    line = {"step": number, "ok": True}
    if MANNER == "hang":
        signal.pause()
    if not (MANNER == "liar" and do == "call_tool"):
        answer = request(link, number + 1, METHODS[do], rest)
        if "error" in answer:
            line = {"step": number, "ok": False, "detail": answer["error"]["message"]}
    if MANNER == "picky" and do == "list_tools":
        line = {"step": number, "ok": False, "detail": "TypeError: I do not like it"}
    if MANNER != "silent":
        print(json.dumps(line))
link.close()
