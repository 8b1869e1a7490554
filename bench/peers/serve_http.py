"""Serve a peer on uvicorn: `serve_http.py <module> <descriptor of a listening socket>`.

The settings are the same for every Python subject, so that only the application differs.
"""

import importlib
import socket
import sys

import uvicorn


def main() -> None:
    module, descriptor = sys.argv[1:]
    config = uvicorn.Config(
        importlib.import_module(module).app(),
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_level="error",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(descriptor))])


if __name__ == "__main__":
    main()
