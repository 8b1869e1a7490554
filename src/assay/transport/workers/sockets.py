"""The listening sockets of several workers.

On Linux each worker has one: the kernel then spreads new connections evenly (`SO_REUSEPORT`). With one
socket for all, the worker that wakes up first takes most of them. The parent holds all sockets, so that no
connection is refused or lost while a worker is replaced.
"""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from typing import Final

from assay.transport.http1.listening import BACKLOG

SPREADS: Final = sys.platform == "linux"
"""Whether the kernel spreads connections over sockets with one address."""


def siblings(first: socket.socket, count: int) -> list[socket.socket]:
    """The listening sockets for so many workers, of which `first` is one; `first` alone if the kernel cannot
    spread connections, or the socket was opened without that option by a service manager.

    `first` was bound without the option: so the address was free, and another server that has the option
    cannot share it by accident. The option is set now, before the others are bound.
    """
    sockets = [first]
    if not SPREADS or count == 1:
        return sockets
    try:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        for _ in range(count - 1):
            sockets.append(_bound_like(first))
    except OSError:
        for extra in sockets[1:]:
            extra.close()
        return [first]
    return sockets


def _bound_like(first: socket.socket) -> socket.socket:
    sibling = socket.socket(first.family, first.type, first.proto)
    try:
        sibling.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sibling.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if first.family == socket.AF_INET6:
            with suppress(OSError):
                only = first.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
                sibling.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
        sibling.bind(first.getsockname())
        sibling.listen(BACKLOG)
    except OSError:
        sibling.close()
        raise
    return sibling
