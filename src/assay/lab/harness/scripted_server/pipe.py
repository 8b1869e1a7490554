"""The server that a stdio client starts: its standard streams are the lab's, over a socket.

Run by path, without the rest of Assay, since a client waits for it to start: `python -I -S pipe.py PORT`.
To the lab goes one byte of kind, four of length, and the data: `H` hello, `D` from standard input, `E` its
end, `S` a signal. From the lab comes the same: `D` for standard output, `R` for standard error, `X` to exit.
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
    # A signal is told, not obeyed: whether the server ends is the lab's to say.
    signal.signal(signal.SIGTERM, lambda number, frame: send(lab, b"S", b"SIGTERM"))
    sources = [lab, sys.stdin.fileno()]
    held = b""
    while True:
        ready, _, _ = select.select(sources, [], [])
        if lab in ready:
            data = lab.recv(65536)
            if not data:
                os._exit(0)
            held = obey(held + data)
        if sys.stdin.fileno() in ready:
            data = os.read(sys.stdin.fileno(), 65536)
            send(lab, b"D" if data else b"E", data)
            if not data:
                sources.remove(sys.stdin.fileno())


def obey(data: bytes) -> bytes:
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
        except BrokenPipeError:  # nobody reads any more
            return


def send(lab: socket.socket, kind: bytes, data: bytes) -> None:
    try:
        lab.sendall(HEAD.pack(kind, len(data)) + data)
    except OSError:  # the lab is gone, and with it whoever would want to know
        os._exit(1)


if __name__ == "__main__":
    main()
