"""Assay on its own server, as `server.run("http")` serves it: `assay_listen.py <module> <descriptor>`.

HTTP and WebSocket on one listening socket; the module is in the same directory.
"""

import asyncio
import importlib
import socket
import sys

import uvloop

from assay.transport.http1.server import serve


async def main() -> None:
    server = importlib.import_module(sys.argv[1]).server
    bound = socket.socket(fileno=int(sys.argv[2]))
    await serve(server.asgi(), bound, asyncio.Event().wait, limits=server.limits)


if __name__ == "__main__":
    uvloop.run(main())
