"""A program that connects its standard input and output to a local port: a saboteur as a command.

It runs alone (`python -I -S pipe_program.py PORT`), without Assay, because it is started hundreds of times.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def main(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        threading.Thread(target=_forward, args=(connection,), daemon=True).start()
        while data := connection.recv(65536):
            os.write(1, data)


def _forward(connection: socket.socket) -> None:
    try:
        while data := os.read(0, 65536):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the saboteur closed the connection


if __name__ == "__main__":
    main(int(sys.argv[1]))
