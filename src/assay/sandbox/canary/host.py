"""The bait: what lies outside of the sandbox for the canary to reach. It harms nothing if it is reached."""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from .escape import Bait

VARIABLE: Final = "ASSAY_CANARY_VARIABLE"
GREETING: Final = b"reached\n"
IPC_PRIVATE: Final = 0
IPC_REMOVE: Final = 0
SEGMENT_MODE: Final = 0o1666
"""Create it, for everyone to read and write."""
SLEEPER: Final = f"import sys; sys.stdin.read()  # {VARIABLE}"


@contextmanager
def laid_out(scratch: str, program: str) -> Iterator[Bait]:
    """Listeners, files and a process, for as long as the canary runs."""
    with ExitStack() as stack:
        directory = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bait-", dir="/var/tmp"))
        )
        directory.chmod(0o777)
        (directory / "secret").write_text("not for servers\n")
        marker = f"assay-canary-{secrets.token_hex(8)}"
        for place in ("/tmp", "/dev/shm"):
            stack.enter_context(_marked(Path(place, marker)))
        services = _Services(stack)
        name = f"assay-canary-{secrets.token_hex(8)}"
        tcp, tcp6 = services.listen(socket.AF_INET), services.listen(socket.AF_INET6)
        services.listen_at(f"\0{name}")
        services.listen_at(f"{directory}/socket")
        udp, relayed = services.answer(), services.listen(socket.AF_INET)
        services.start()
        yield Bait(
            tcp=tcp,
            tcp6=tcp6,
            relayed=relayed,
            udp=udp,
            abstract=name,
            directory=str(directory),
            marker=marker,
            process=stack.enter_context(_process()),
            caller=os.getpid(),
            shared_memory=stack.enter_context(_shared_memory()),
            home=str(Path.home()),
            variable=VARIABLE,
            scratch=scratch,
            program=program,
        )


@contextmanager
def _marked(path: Path) -> Iterator[None]:
    with suppress(OSError):
        path.touch()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _process() -> Iterator[int]:
    """A process that waits for the end of its input, with a variable that must not be read."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SLEEPER],
        stdin=subprocess.PIPE,
        env={VARIABLE: "not for servers"},
    )
    try:
        yield process.pid
    finally:
        process.communicate()


@contextmanager
def _shared_memory() -> Iterator[int]:
    libc = ctypes.CDLL(None)
    segment = libc.shmget(IPC_PRIVATE, 4096, SEGMENT_MODE)
    try:
        yield segment
    finally:
        if segment >= 0:
            libc.shmctl(segment, IPC_REMOVE, None)


class _Services:
    """Sockets that answer whoever reaches them, on one thread."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._selector = stack.enter_context(selectors.DefaultSelector())
        self._stop, self._stopped = socket.socketpair()
        self._selector.register(self._stopped, selectors.EVENT_READ, None)

    def listen(self, family: socket.AddressFamily) -> int:
        """The port; 0 if the host lacks the family."""
        address = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        try:
            server = socket.create_server((address, 0), family=family)
        except OSError:
            return 0
        self._serve(server, _greet)
        return int(server.getsockname()[1])

    def listen_at(self, name: str) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        if not name.startswith("\0"):
            os.chmod(name, 0o777)
        server.listen()
        self._serve(server, _greet)

    def answer(self) -> int:
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("127.0.0.1", 0))
        self._serve(server, _reply)
        return int(server.getsockname()[1])

    def _serve(self, server: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        self._stack.callback(server.close)
        self._selector.register(server, selectors.EVENT_READ, serve)

    def start(self) -> None:
        thread = threading.Thread(target=self._run, name="assay-bait", daemon=True)
        thread.start()
        self._stack.callback(self._end, thread)

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                with suppress(OSError):
                    key.data(key.fileobj)

    def _end(self, thread: threading.Thread) -> None:
        self._stop.close()
        thread.join()
        self._stopped.close()


def _greet(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(GREETING)


def _reply(server: socket.socket) -> None:
    """Send it back as an answer: the first bit of the third byte is set in answers of name servers."""
    message, sender = server.recvfrom(512)
    answer = bytearray(message.ljust(12, b"\0"))
    answer[2] |= 0x80
    server.sendto(answer, sender)
