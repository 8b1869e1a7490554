"""Assay on its own server, HTTP and WebSocket on one port: `assay_listen.py <descriptor of a socket>`."""

import asyncio
import socket
import sys

import uvloop
from assay_async import server

from assay.transport.http1.server import serve


async def main() -> None:
    bound = socket.socket(fileno=int(sys.argv[1]))
    await serve(server.asgi(), bound, asyncio.Event().wait, limits=server.limits)


if __name__ == "__main__":
    uvloop.run(main())
