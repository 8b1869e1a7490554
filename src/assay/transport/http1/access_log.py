"""The access log: a line for each request, formatted and written by a thread of its own."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from time import time
from typing import Final, NamedTuple

from assay.model.visible import visible
from assay.protocol.http.client_address import Network, client_address

from .observer import Answered

WAITING: Final = 10_000
"""Lines that may wait for a reader that is slow; further ones are counted and left out."""
VALUE_CHARACTERS: Final = 200
ATOMIC: Final = 4096
"""Bytes that a pipe takes whole, so that lines of several workers are not mixed."""
HEADERS: Final = {b"user-agent": "agent", b"mcp-method": "rpc", b"mcp-name": "name"}
"""Clients without a handshake repeat the method and the name of a request as headers; others send none."""


class Line(NamedTuple):
    at: float
    client: str
    method: str
    path: str
    status: int
    sent: int
    seconds: float
    headers: dict[str, str]


class AccessLog:
    """`observe` costs the event loop some microseconds; the rest happens in the thread."""

    def __init__(
        self, form: str, descriptor: int, trusted_proxies: Sequence[Network], say: Callable[[str], None]
    ) -> None:
        self._format = FORMATS[form]
        self._descriptor = descriptor
        self._trusted_proxies = trusted_proxies
        self._say = say
        self._lines: deque[Line] = deque()
        self._lost = 0
        self._wake = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="assay-access-log", daemon=True)
        self._thread.start()

    def observe(self, answered: Answered) -> None:
        if len(self._lines) >= WAITING:
            self._lost += 1
            return
        scope = answered.scope
        peer = scope.get("client")
        headers = {
            HEADERS[name]: value[:VALUE_CHARACTERS].decode("latin-1")
            for name, value in scope["headers"]
            if name in HEADERS
        }
        address = client_address(peer[0] if peer else "", scope["headers"], self._trusted_proxies)
        method, path = scope.get("method", "-"), scope.get("path", "-")[:VALUE_CHARACTERS]
        numbers = (answered.status, answered.sent, answered.seconds)
        self._lines.append(Line(time(), address, method, path, *numbers, headers))
        self._wake.set()

    def close(self) -> None:
        """Write what waits, within two seconds: a reader that does not read must not stop the exit."""
        self._ending = True
        self._wake.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        while not self._ending or self._lines:
            self._wake.wait()
            self._wake.clear()
            try:
                self._write_waiting()
            except OSError as error:
                self._say(f"the access log ends: its reader is gone ({error.strerror or error})")
                self._lines = deque(maxlen=0)
                return

    def _write_waiting(self) -> None:
        batch = b""
        while self._lines:
            line = self._format(self._lines.popleft())
            if batch and len(batch) + len(line) > ATOMIC:
                self._write(batch)
                batch = b""
            batch += line
        self._write(batch)
        lost, self._lost = self._lost, 0
        if lost:
            self._say(f"the access log is slower than the requests: {lost} lines are left out")

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def as_text(line: Line) -> bytes:
    called = " ".join(visible(line.headers[key]) for key in ("rpc", "name") if key in line.headers)
    parts = (
        _time(line),
        line.client or "-",
        f'"{visible(line.method)} {visible(line.path)}"',
        str(line.status),
        str(line.sent),
        f"{line.seconds * 1000:.1f}ms",
        *([called] if called else []),
        f'"{visible(line.headers.get("agent", "-"))}"',
    )
    return (" ".join(parts) + "\n").encode("utf-8", "backslashreplace")


def as_json(line: Line) -> bytes:
    values = {
        "time": _time(line),
        "client": line.client,
        "method": line.method,
        "path": line.path,
        "status": line.status,
        "bytes": line.sent,
        "ms": round(line.seconds * 1000, 3),
        "pid": os.getpid(),
        **line.headers,
    }
    return json.dumps(values).encode() + b"\n"


def _time(line: Line) -> str:
    return datetime.fromtimestamp(line.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


FORMATS: Final[dict[str, Callable[[Line], bytes]]] = {"text": as_text, "json": as_json}
