"""Command line of Python fixture servers: --stdio, or HTTP with the URL on standard output.

`--sse` is the HTTP+SSE transport of 2024-11-05, if the server has it; `--more` is read by `everything.py`.
"""

from __future__ import annotations

import argparse
import socket
from collections.abc import Callable
from typing import Any

import uvicorn


def serve(
    about: str | None,
    on_stdio: Callable[[], object],
    make_app: Callable[[], Any],
    make_sse_app: Callable[[], Any] | None = None,
) -> None:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--sse", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    if options.stdio:
        on_stdio()
    elif options.sse and make_sse_app is not None:
        serve_http(make_sse_app(), options.port, "/sse")
    else:
        serve_http(make_app(), options.port, "/mcp")


def serve_http(app: Any, port: int, path: str) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    print(f"MCP endpoint: http://localhost:{listener.getsockname()[1]}{path}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
