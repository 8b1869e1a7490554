"""The stdio server that clients are measured on: a blocking loop around msgspec, so that the client's part of
a call is the larger one. It knows a handshake, the list of tools, and the tool `add`.
"""

import os
from typing import Any

import msgspec
from bare import Call, Raw, Reply, Text

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
TOOL = {"name": "add", "description": "Add two numbers.", "inputSchema": SCHEMA}
VERSION = "2025-11-25"


class Envelope(msgspec.Struct):
    method: str
    id: Any = None
    params: Raw = Raw(b"{}")


class Failure(msgspec.Struct):
    id: Any
    error: dict[str, Any]
    jsonrpc: str = "2.0"


decode_envelope = msgspec.json.Decoder(Envelope).decode
decode_call = msgspec.json.Decoder(Call).decode
decode_arguments = msgspec.json.Decoder(dict[str, int]).decode
encode = msgspec.json.Encoder().encode


def result_of(envelope: Envelope) -> Any:
    if envelope.method == "tools/call":
        arguments = decode_arguments(decode_call(envelope.params).arguments)
        total = arguments["a"] + arguments["b"]
        return {"content": [Text(str(total))], "structuredContent": {"result": total}, "isError": False}
    if envelope.method == "tools/list":
        return {"tools": [TOOL]}
    if envelope.method == "initialize":
        info = {"name": "plain", "version": "1"}
        return {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": info}
    return None


def answer(line: bytes) -> bytes:
    envelope = decode_envelope(line)
    if envelope.id is None:
        return b""
    result = result_of(envelope)
    if result is None:
        return encode(Failure(envelope.id, {"code": -32601, "message": "Method not found"})) + b"\n"
    return encode(Reply(envelope.id, result)) + b"\n"


def main() -> None:
    rest = b""
    while data := os.read(0, 65536):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            os.write(1, answer(line))


if __name__ == "__main__":
    main()
