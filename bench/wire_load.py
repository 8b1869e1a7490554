"""HTTP compared with WebSocket: Assay on its own server, and `load.c` as load generator for both."""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, Final

from .http_load import START_TIMEOUT, VoidFigure, check, children_cpu
from .process import Stopwatch, on_one_core, rss_mb, running, time_limit
from .request import CALL, HANDSHAKE_WIRE, HEADERS, INITIALIZE, INITIALIZED
from .result import Sample
from .subject import HERE, PEERS, ROOT, python_of

SOURCE: Final = HERE / "load.c"
BINARY: Final = ROOT / "results" / "bench" / "load"
MANY: Final = 32
WIRES: Final = ("http", "ws")
EXPECTED: Final = '"structuredContent":{"result":3}'
FAULTS: Final = {"refused": "requests were refused", "closed": "connections broke", "wrong": "wrong answers"}

HTTP_CALL: Final = "\r\n".join(
    [
        "POST /mcp HTTP/1.1",
        "host: localhost",
        *(f"{name}: {value}" for name, value in HEADERS.items()),
        f"content-length: {len(CALL % 1)}",
        "",
        CALL % 1,
    ]
)
UPGRADE: Final = "\r\n".join(
    [
        "GET /mcp/ws HTTP/1.1",
        "host: localhost",
        "upgrade: websocket",
        "connection: Upgrade",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol: mcp",
        "",
        "",
    ]
)
SCRIPTS: Final[dict[str, list[tuple[str, str]]]] = {
    "http": [("wire", "http"), ("call", HTTP_CALL), ("expect", EXPECTED)],
    "ws": [
        ("wire", "ws"),
        ("open", UPGRADE),
        ("request", json.dumps(INITIALIZE)),
        ("notify", json.dumps(INITIALIZED)),
        ("call", CALL % 1),
        ("expect", EXPECTED),
    ],
}


def build() -> None:
    """
    Raises:
        VoidFigure: the load generator cannot be compiled.
    """
    if BINARY.exists() and BINARY.stat().st_mtime >= SOURCE.stat().st_mtime:
        return
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(
            ["cc", "-O2", "-Wall", "-Wextra", "-o", str(BINARY), str(SOURCE)], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise VoidFigure(f"load.c was not compiled: {error}; a C compiler is needed") from error


def measure(wire: str, connections: int, number: int, seconds: int, warmup: int, log: IO[bytes]) -> Sample:
    """Load one wire. A single connection shares a core with its server, as on stdio, because the two take
    turns.

    Raises:
        VoidFigure, WrongAnswer, TookTooLong: the measurement failed.
    """
    build()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        port, descriptor = listening.getsockname()[1], listening.fileno()
        command = [str(python_of("assay")), str(PEERS / "assay_listen.py"), "assay_async", str(descriptor)]
        with running(command, log, keep=(descriptor,)) as child:
            with time_limit(START_TIMEOUT, "assay"):
                check(port, HANDSHAKE_WIRE)
            with on_one_core(child.pid) if connections == 1 else nullcontext():
                if warmup:
                    run_load(port, wire, connections, warmup)
                watch, before = Stopwatch(child.pid), children_cpu()
                figures = run_load(port, wire, connections, seconds)
                server_cpu, client_cpu = watch.cpu_share(), (children_cpu() - before) / seconds
                return Sample(
                    number,
                    figures["calls"] / figures["seconds"],
                    figures["p50_us"],
                    figures["p99_us"],
                    server_cpu,
                    client_cpu,
                    rss_mb(child.pid),
                )


def run_load(port: int, wire: str, connections: int, seconds: float) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(prefix="load-") as script:
        Path(script.name).write_bytes(b"".join(step(name, text) for name, text in SCRIPTS[wire]))
        command = [str(BINARY), str(port), str(connections), f"{seconds}", "0", script.name]
        try:
            done = subprocess.run(command, capture_output=True, check=True, timeout=seconds + 30)
        except subprocess.SubprocessError as error:
            raise VoidFigure(f"the load generator failed: {error}") from error
    return read_figures(done.stdout)


def step(name: str, text: str) -> bytes:
    """A step of a script, in the format of `load.c`."""
    data = text.encode()
    return b"%b %d\n%b" % (name.encode(), len(data), data)


def read_figures(output: bytes) -> dict[str, Any]:
    """
    Raises:
        VoidFigure: there were errors, or no calls.
    """
    figures: dict[str, Any] = json.loads(output)
    for name, description in FAULTS.items():
        if figures[name]:
            raise VoidFigure(f"{figures[name]} {description}")
    if not figures["calls"]:
        raise VoidFigure("no call was answered")
    return figures
