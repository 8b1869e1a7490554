"""The cost of the marketplace profile: `assay serve` with each part of it, compared with the plain server.

Each part is switched on by its option, as users do. Spans and metrics are exported to a collector that
discards them.
"""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from . import http_load
from .process import Stopwatch, rss_mb, running, time_limit
from .request import CALL, HEADERS, Wire, WrongAnswer
from .result import Sample
from .subject import PEERS, python_of

START_TIMEOUT: Final = 60.0
ENDPOINT: Final = re.compile(rb"MCP endpoint: http://[^:]+:(\d+)/")
FOLDER, KEY, COLLECTOR = "{folder}", "{key}", "{collector}"
PROFILE: Final = ("--profile", "intelgraph", "--no-ledger")
LEDGER: Final = ("--ledger", FOLDER, "--ledger-key", KEY)
TELEMETRY: Final = ("--telemetry", COLLECTOR)
READ: Final = '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"bench://text"}}'


@dataclass(frozen=True)
class Part:
    """A configuration to measure. The answer must contain the keys in `tags`, as proof that the part is
    on."""

    label: str
    options: tuple[str, ...]
    body: str
    tags: tuple[str, ...] = ()

    @property
    def wire(self) -> Wire:
        return Wire("profile", self.body, HEADERS)


_CALL: Final = CALL % 1
_NOTE: Final = _CALL.replace('"add"', '"note"')
_EFFECTS: Final = ("dev.assay/effects",)
_TAGS: Final = ("dev.assay/retention", "dev.assay/provenance")
PLAIN, ALL, PLAIN_READ, TAGGED_READ = "plain", "all", "plain read", "tagged read"
PARTS: Final[dict[str, Part]] = {
    PLAIN: Part("a call, plain", (), _CALL),
    "effects": Part("with effects", PROFILE, _NOTE, _EFFECTS),
    "ledger": Part("with effects and ledger", (*PROFILE, *LEDGER), _NOTE, (*_EFFECTS, '"ledger"')),
    "telemetry": Part("with telemetry", TELEMETRY, _CALL),
    ALL: Part("with all of it", (*PROFILE, *LEDGER, *TELEMETRY), _NOTE, (*_EFFECTS, '"ledger"')),
    PLAIN_READ: Part("a read, plain", (), READ),
    TAGGED_READ: Part("a read, tagged", PROFILE, READ, _TAGS),
}


def measure(name: str, number: int, seconds: int, warmup: int, log: IO[bytes]) -> Sample:
    """
    Raises:
        WrongAnswer, VoidFigure, TookTooLong: the measurement failed.
    """
    part = PARTS[name]
    with tempfile.TemporaryDirectory() as folder, collecting() as collector:
        values = {FOLDER: f"{folder}/ledger", KEY: str(make_key(Path(folder))), COLLECTOR: collector.url}
        options = [values.get(word, word) for word in part.options]
        with running(command(options), log, pipes=True) as child:
            with time_limit(START_TIMEOUT, name):
                port = read_port(child)
                check(port, part)
            if warmup:
                http_load.run_wrk(port, part.wire, warmup)
            watch, before = Stopwatch(child.pid), http_load.children_cpu()
            figures = http_load.run_wrk(port, part.wire, seconds)
            server_cpu = watch.cpu_share()
            client_cpu = (http_load.children_cpu() - before) / (figures["duration_us"] / 1e6)
            memory = rss_mb(child.pid)
            with time_limit(START_TIMEOUT, name):
                check(port, part)
        expect_evidence(part, Path(folder), collector)
    rate = figures["requests"] / (figures["duration_us"] / 1e6)
    return Sample(number, rate, figures["p50_us"], figures["p99_us"], server_cpu, client_cpu, memory)


def command(options: Sequence[str]) -> list[str]:
    target = str(PEERS / "assay_profile.py")
    return [
        str(python_of("assay")),
        "-m",
        "assay",
        "serve",
        target,
        "--transport",
        "http",
        "--port",
        "0",
        *options,
    ]


def make_key(folder: Path) -> Path:
    """Create a signing key for the ledger with `assay keygen`."""
    keygen = [str(python_of("assay")), "-m", "assay", "keygen", str(folder / "bench")]
    subprocess.run(keygen, check=True, capture_output=True)
    return folder / "bench.key"


def read_port(child: subprocess.Popen[bytes]) -> int:
    assert child.stdout is not None
    for line in child.stdout:
        if match := ENDPOINT.search(line):
            return int(match[1])
    raise WrongAnswer("the server ended before it listened")


def check(port: int, part: Part) -> None:
    """
    Raises:
        WrongAnswer: the part is not active.
    """
    body = http_load.ask(port, part.wire)
    answer = json.loads(body)
    missing = [tag for tag in part.tags if tag.strip('"').encode() not in body]
    if missing or "result" not in answer:
        raise WrongAnswer(f"{part.label}: not in the answer: {', '.join(missing)}: {body[:300]!r}")


def expect_evidence(part: Part, folder: Path, collector: Collector) -> None:
    """
    Raises:
        WrongAnswer: the ledger or the collector is empty.
    """
    written = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
    if set(LEDGER) & set(part.options) and not written:
        raise WrongAnswer(f"{part.label}: the ledger is empty")
    if set(TELEMETRY) & set(part.options) and not collector.bytes:
        raise WrongAnswer(f"{part.label}: nothing was exported")


class Collector(http.server.ThreadingHTTPServer):
    """An OTLP collector that discards its input."""

    bytes = 0
    daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignored: the server is killed in the end, possibly during an export."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.bytes += len(body)
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the load generator shares this terminal."""


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector(("127.0.0.1", 0), _Handler) as collector:
        thread = threading.Thread(target=collector.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()
