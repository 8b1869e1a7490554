"""The program that a stdio client starts: it connects its standard streams to the lab through a socket.

It runs as `python -I -S pipe.py PORT` and imports nothing of Assay, because the client waits for its start.
Both directions carry records of a type byte, four bytes of length, and data. To the lab: `H` hello, `D` data
of standard input, `E` end of input, `S` signal. From the lab: `D` standard output, `R` standard error, `X`
exit.
"""

import os
import select
import signal
import socket
import struct
import sys

HEAD = struct.Struct(">cI")


def main() -> None:
    lab = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    send(lab, b"H", str(os.getpid()).encode())
    # Report the signal instead of exiting: the lab decides whether the server exits.
    signal.signal(signal.SIGTERM, lambda number, frame: send(lab, b"S", b"SIGTERM"))
    sources = [lab, sys.stdin.fileno()]
    buffer = b""
    while True:
        ready, _, _ = select.select(sources, [], [])
        if lab in ready:
            data = lab.recv(65536)
            if not data:
                os._exit(0)
            buffer = handle(buffer + data)
        if sys.stdin.fileno() in ready:
            data = os.read(sys.stdin.fileno(), 65536)
            send(lab, b"D" if data else b"E", data)
            if not data:
                sources.remove(sys.stdin.fileno())


def handle(data: bytes) -> bytes:
    """Handle the complete records; returns the rest."""
    while len(data) >= HEAD.size:
        kind, length = HEAD.unpack_from(data)
        if len(data) < HEAD.size + length:
            break
        body, data = data[HEAD.size : HEAD.size + length], data[HEAD.size + length :]
        if kind == b"X":
            os._exit(int(body))
        write(2 if kind == b"R" else 1, body)
    return data


def write(stream: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(stream, data) :]
        except BrokenPipeError:  # the client closed the stream
            return


def send(lab: socket.socket, kind: bytes, data: bytes) -> None:
    try:
        lab.sendall(HEAD.pack(kind, len(data)) + data)
    except OSError:  # the lab is gone
        os._exit(1)


if __name__ == "__main__":
    main()
