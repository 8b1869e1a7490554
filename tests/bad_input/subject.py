"""The server that receives bad input, as a process: `subject.py stdio`, or over HTTP
`subject.py (optional | required) errors`, where standard error goes to the file `errors`."""

from __future__ import annotations

import os
import sys

from assay import Limits, Server

MESSAGE_BYTES = 100_000
DEPTH = 64
BATCH = 10
BODY_TIMEOUT = 1.0

server = Server(
    "subject",
    limits=Limits(message_bytes=MESSAGE_BYTES, depth=DEPTH, batch=BATCH, body_timeout=BODY_TIMEOUT),
)


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool
async def echo(text: str) -> str:
    return text


def announce(url: str) -> None:
    print(url, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        os.dup2(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT), 2)
        server.run("http", port=0, announce=announce, sessions=sys.argv[1])
