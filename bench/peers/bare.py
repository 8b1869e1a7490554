"""The upper bound: decode envelope, call and arguments with msgspec, encode the result, and nothing else.

It checks no headers and no method, and validates nothing beyond decoding. On stdio it is a blocking loop.
"""

import os
from typing import Any

import msgspec
from msgspec import Raw


class Envelope(msgspec.Struct):
    jsonrpc: str
    method: str
    id: int | str | None = None
    params: Raw = Raw(b"{}")


class Call(msgspec.Struct):
    name: str
    arguments: Raw = Raw(b"{}")


class Arguments(msgspec.Struct):
    a: int
    b: int


class Text(msgspec.Struct, tag="text", tag_field="type"):
    text: str


class Result(msgspec.Struct):
    content: list[Text]
    structuredContent: dict[str, int]
    isError: bool = False


class Reply(msgspec.Struct):
    id: int | str | None
    result: Any
    jsonrpc: str = "2.0"


decode_envelope = msgspec.json.Decoder(Envelope).decode
decode_call = msgspec.json.Decoder(Call).decode
decode_arguments = msgspec.json.Decoder(Arguments).decode
encode = msgspec.json.Encoder().encode

JSON = (b"content-type", b"application/json")


async def add(a: int, b: int) -> int:
    return a + b


async def bare(scope: Any, receive: Any, send: Any) -> None:
    message = await receive()
    envelope = decode_envelope(message["body"])
    call = decode_call(envelope.params)
    arguments = decode_arguments(call.arguments)
    value = await add(arguments.a, arguments.b)
    body = encode(Reply(envelope.id, Result([Text(str(value))], {"result": value})))
    headers = [JSON, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def app() -> Any:
    return bare


def answer(line: bytes) -> bytes:
    envelope = decode_envelope(line)
    if envelope.id is None:
        return b""
    if envelope.method == "initialize":
        version = msgspec.json.decode(envelope.params)["protocolVersion"]
        info = {"name": "bare", "version": "1"}
        result: Any = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        return encode(Reply(envelope.id, result)) + b"\n"
    call = decode_call(envelope.params)
    arguments = decode_arguments(call.arguments)
    value = arguments.a + arguments.b
    return encode(Reply(envelope.id, Result([Text(str(value))], {"result": value}))) + b"\n"


def serve_stdio() -> None:
    rest = b""
    while data := os.read(0, 65536):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            os.write(1, answer(line))


if __name__ == "__main__":
    serve_stdio()
