"""Opening the socket on which a server listens. It needs no parser: a parent of workers stays small."""

from __future__ import annotations

import os
import socket
from typing import Final

from assay.model.error import CannotListen

BACKLOG: Final = 2048
"""Connections that the kernel holds until they are accepted."""
PASSED: Final = 3
"""The descriptor of a socket that a service manager passes, by the convention of systemd."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket: that of a service manager, if it passed one, else a new one."""
    if (os.environ.get("LISTEN_PID"), os.environ.get("LISTEN_FDS")) == (str(os.getpid()), "1"):
        return socket.socket(fileno=PASSED)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only on sockets that say they are TCP.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise CannotListen(host, port, error) from error
    return bound
