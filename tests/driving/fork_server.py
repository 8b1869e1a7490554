"""A process that has imported Assay, and forks a child for each command of `warm_python`."""

import atexit
import gc
import importlib
import marshal
import os
import runpy
import selectors
import signal
import socket
import struct
import sys
import threading
import warnings
from io import TextIOWrapper
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import assay

# Libraries that Assay imports when it needs them.
LIBRARIES = ("jsonschema_rs", "mcp_types.methods", "rich.console")


class Order(NamedTuple):
    arguments: list[str]
    directory: str
    environment: dict[str, str]
    streams: tuple[int, ...]


class Child(NamedTuple):
    number: int
    connection: socket.socket
    test: str


class ForkServer:
    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._log = open(f"{address}.log", "a", 1, "utf-8")  # noqa: SIM115 - open until the process ends
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(0, selectors.EVENT_READ, self._end)
        self._children: dict[int, Child] = {}

    def serve(self) -> None:
        while True:
            # One event at a time: it may close the descriptors of the others.
            key, _ = self._selector.select()[0]
            key.data(key.fd)

    def _accept(self, _descriptor: int) -> None:
        connection, _ = self._listener.accept()
        try:
            order = receive(connection)
        except ConnectionError:
            return connection.close()  # the command was killed
        number = os.fork()
        if number == 0:
            self._close_all(connection)
            run(order)
        for stream in order.streams:
            os.close(stream)
        send(connection, number)
        ended = os.pidfd_open(number)
        self._children[ended] = self._children[connection.fileno()] = Child(
            number, connection, order.environment.get("PYTEST_CURRENT_TEST", "")
        )
        self._selector.register(ended, selectors.EVENT_READ, self._report)
        self._selector.register(connection, selectors.EVENT_READ, self._abandon)

    def _report(self, ended: int) -> None:
        """Tell the command how its child ended."""
        child = self._children.pop(ended)
        self._selector.unregister(ended)
        os.close(ended)
        _, status, usage = os.wait4(child.number, 0)
        self._log.write(f"{usage.ru_utime + usage.ru_stime:.3f} {child.test}\n")
        code = os.waitstatus_to_exitcode(status)
        if self._children.pop(child.connection.fileno(), None):
            self._selector.unregister(child.connection)
            send(child.connection, code)
        child.connection.close()

    def _abandon(self, descriptor: int) -> None:
        """The command was killed: so is its child."""
        child = self._children.pop(descriptor)
        self._selector.unregister(child.connection)
        os.kill(child.number, signal.SIGKILL)

    def _end(self, _descriptor: int) -> None:
        for child in set(self._children.values()):
            os.kill(child.number, signal.SIGKILL)
        sys.exit()

    def _close_all(self, connection: socket.socket) -> None:
        """A child keeps nothing of the fork server open."""
        self._selector.close()
        self._listener.close()
        self._log.close()
        connection.close()
        for descriptor in self._children:
            os.close(descriptor)


def send(connection: socket.socket, number: int) -> None:
    try:
        connection.sendall(struct.pack(">i", number))
    except ConnectionError:
        pass  # the command was killed: its connection has ended too


def receive(connection: socket.socket) -> Order:
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    size = int.from_bytes(head, "big")
    body = connection.recv(size, socket.MSG_WAITALL)
    if not head or len(body) < size:
        # The command was killed while it sent its order. An open pipe here would keep its reader waiting.
        for stream in streams:
            os.close(stream)
        raise ConnectionAbortedError
    arguments, directory, environment = marshal.loads(body)
    decoded = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
    return Order(arguments, directory, decoded, tuple(streams))


def run(order: Order) -> NoReturn:
    """Become the process that `python` with these arguments would be."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    os.chdir(order.directory)
    os.environ.clear()
    os.environ.update(order.environment)
    use_streams(order)
    for action in filter(None, order.environment.get("PYTHONWARNINGS", "").split(",")):
        sys.warnoptions.append(action)
        warnings.simplefilter(action)  # type: ignore[arg-type]
    try:
        execute(order)
        leave(0)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        leave(end.code if isinstance(end.code, int) else int(end.code is not None))


def leave(code: int) -> NoReturn:
    """End as the interpreter does, except that it does not delete its modules, which takes long."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def use_streams(order: Order) -> None:
    for number, stream in enumerate(order.streams):
        os.dup2(stream, number)
        os.close(stream)
    unbuffered = bool(order.environment.get("PYTHONUNBUFFERED"))
    sys.stdin = text_stream(0, "r")
    sys.stdout = text_stream(1, "w", write_through=unbuffered)
    sys.stderr = text_stream(2, "w", write_through=unbuffered, errors="backslashreplace")


def text_stream(
    number: int, mode: str, *, write_through: bool = False, errors: str = "strict"
) -> TextIOWrapper:
    binary: Any = open(  # noqa: SIM115 - open until the process ends
        number, f"{mode}b", 0 if write_through else -1, closefd=False
    )
    lines = number == 2 or os.isatty(number)
    return TextIOWrapper(binary, "utf-8", errors, line_buffering=lines, write_through=write_through)


def execute(order: Order) -> None:
    """Run `-m module`, `-c code` or a file, as the main module."""
    kind, *rest = order.arguments
    path = order.environment.get("PYTHONPATH", "")
    sys.path[:0] = [entry for entry in path.split(os.pathsep) if entry and entry not in sys.path]
    if kind == "-m":
        sys.argv = rest
        sys.path.insert(0, order.directory)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    else:
        sys.argv = [kind, *rest]
        sys.path.insert(0, str(Path(kind).resolve().parent))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    # The directory of this script is not on the path of a child.
    del sys.path[0]
    for name in (*LIBRARIES, *(module.name for module in walk_packages(assay.__path__, "assay."))):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    server = ForkServer(sys.argv[1])
    print("ready", flush=True)
    server.serve()
