"""The one way out of an empty network: connections to one loopback port inside reach the same port outside.

A server that is certified sends its spans this way. The socket that listens was opened inside, so it belongs
to the network there; the process that accepts is outside, and connects to Assay's own receiver only.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
import threading
from contextlib import suppress
from typing import Final

LOOPBACK: Final = "127.0.0.1"
SET_FLAGS: Final = 0x8914
UP: Final = 0x1
MOST: Final = 32
"""Connections at once; more wait in the queue of the socket."""
PIECE: Final = 64 * 1024


def raise_loopback() -> None:
    """A new network has a loopback interface that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", b"lo", UP))


def send_listener(channel: socket.socket, port: int) -> None:
    """Listen inside, and hand the socket to the process outside."""
    with socket.create_server((LOOPBACK, port)) as listener:
        descriptors = array.array("i", [listener.fileno()])
        channel.sendmsg([b"L"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])


def receive_listener(channel: socket.socket) -> socket.socket | None:
    """The socket from inside; None if the other side ended before."""
    data, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(4))
    if not data or not ancillary:
        return None
    return socket.socket(fileno=struct.unpack("i", ancillary[0][2][:4])[0])


def start(listener: socket.socket, port: int) -> None:
    threading.Thread(target=_accept, args=(listener, port), daemon=True).start()


def _accept(listener: socket.socket, port: int) -> None:
    slots = threading.Semaphore(MOST)
    while True:
        slots.acquire()
        connection, _ = listener.accept()
        threading.Thread(target=_join, args=(connection, port, slots), daemon=True).start()


def _join(inside: socket.socket, port: int, slots: threading.Semaphore) -> None:
    try:
        with inside, suppress(OSError), socket.create_connection((LOOPBACK, port)) as outside:
            back = threading.Thread(target=_copy, args=(outside, inside), daemon=True)
            back.start()
            _copy(inside, outside)
            back.join()
    finally:
        slots.release()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(PIECE):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
