"""A server on stdio, or with a port on HTTP, in the standard library alone; `--fault NAME` breaks it."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULT = sys.argv[sys.argv.index("--fault") + 1] if "--fault" in sys.argv else ""
TOOL = {"name": "greet", "inputSchema": {"type": "object"}}


def result_of(message: dict) -> dict:
    match message["method"]:
        case "initialize":
            version = "2025-06-18" if FAULT == "old" else message["params"]["protocolVersion"]
            info = {"name": "tiny", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": "none" if FAULT == "shape" else [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "hello"}]}
    return {}


def answer_to(message: dict) -> dict | None:
    if "id" not in message:
        return None
    if FAULT == "error" and message["method"] == "tools/call":
        error = {"code": -32603, "message": "broken"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result_of(message)}


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        answer = answer_to(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


if FAULT == "exit":
    sys.exit("this server does not want to start")
if "--port" in sys.argv:
    port = int(sys.argv[sys.argv.index("--port") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), Endpoint).serve_forever()
for line in sys.stdin:
    reply = answer_to(json.loads(line))
    if reply is not None:
        print(json.dumps(reply), flush=True)
