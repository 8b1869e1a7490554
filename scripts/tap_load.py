"""Measure `assay tap`: the same calls directly and through it, in turns, with every byte compared.

    python -m scripts.tap_load [--calls 10000] [--connections 16] [--rounds 5]

Prints calls/s, the median latency of one call at a time, the CPU time that the tap takes for a call, its
memory after each round, and how many answers differed. Exits with 1 if the tap passes fewer than half of the
direct calls, adds more than 1 ms at the median, changes a byte, or grows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

PROGRAM: Final = '''
from assay import Server

server = Server("load")


@server.tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b
'''
META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
DATE: Final = re.compile(rb"(?i)date: [^\r]*")
LONGEST: Final = 60.0
GROWTH: Final = 8.0
"""MiB that the tap may grow: caches fill in the first round."""


def request(number: int) -> bytes:
    params = {"name": "add", "arguments": {"a": number, "b": 1}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
        f"Mcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Connection(asyncio.Protocol):
    """Sends its requests one after another, and keeps the answers and their times."""

    def __init__(self, numbers: range, done: asyncio.Future[None]) -> None:
        self._numbers = iter(numbers)
        self._done = done
        self._buffer = b""
        self._sent = 0.0
        self.answers: list[bytes] = []
        self.times: list[float] = []

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        number = next(self._numbers, None)
        if number is None:
            self._transport.close()
            self._done.set_result(None)
            return
        self._sent = time.perf_counter()
        self._transport.write(request(number))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if end and length is not None and len(body) >= int(length[1]):
            self.times.append(time.perf_counter() - self._sent)
            self.answers.append(DATE.sub(b"", self._buffer))
            self._buffer = b""
            self._next()


async def load(port: int, calls: int, connections: int) -> tuple[float, list[float], list[bytes]]:
    """Calls/s, times and answers."""
    loop = asyncio.get_running_loop()
    share = calls // connections
    waiting: list[asyncio.Future[None]] = []
    peers: list[Connection] = []
    begin = time.perf_counter()
    for number in range(connections):
        done: asyncio.Future[None] = loop.create_future()
        peer = Connection(range(number * share, (number + 1) * share), done)
        await loop.create_connection(lambda peer=peer: peer, "127.0.0.1", port)  # type: ignore[misc]
        waiting.append(done)
        peers.append(peer)
    async with asyncio.timeout(LONGEST):
        await asyncio.gather(*waiting)
    spent = time.perf_counter() - begin
    times = [each for peer in peers for each in peer.times]
    return share * connections / spent, times, [each for peer in peers for each in peer.answers]


def run_fast(port: int, calls: int, connections: int) -> tuple[float, list[float], list[bytes]]:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(load(port, calls, connections))
    result: tuple[float, list[float], list[bytes]] = uvloop.run(load(port, calls, connections))
    return result


def started(words: list[str], stream: str) -> tuple[subprocess.Popen[bytes], int]:
    """The process and its port, which its first lines name."""
    pipes: dict[str, Any] = {stream: subprocess.PIPE}
    process: subprocess.Popen[bytes] = subprocess.Popen([sys.executable, "-m", "assay", *words], **pipes)
    for line in getattr(process, stream):
        address = re.search(rb"http://[^/:]+:(\d+)/mcp", line)
        if address is not None:
            return process, int(address[1])
    raise SystemExit(f"{words[0]} did not start")


def cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "server.py")
        file.write_text(PROGRAM)
        server, direct = started(["serve", str(file), "--transport", "http", "--port", "0"], "stdout")
        where = f"http://127.0.0.1:{direct}/mcp"
        tap, through = started(["tap", "--listen", "127.0.0.1:0", "--to", where, "-o", folder], "stderr")
        try:
            return measure(options, direct, through, tap.pid)
        finally:
            for process in (tap, server):
                process.terminate()
                process.wait()


def measure(options: argparse.Namespace, direct: int, through: int, tap: int) -> int:
    ratios, added, used, sizes, changed = [], [], [], [], 0
    for number in range(options.rounds):
        rates, medians, answers = {}, {}, {}
        for name, port in (("direct", direct), ("tap", through)):
            begin = cpu(tap)
            rates[name], _, answers[name] = run_fast(port, options.calls, options.connections)
            if name == "tap":
                used.append((cpu(tap) - begin) / options.calls)
            _, times, _ = run_fast(port, options.calls // 10, 1)
            medians[name] = statistics.median(times)
        changed += sum(left != right for left, right in zip(answers["direct"], answers["tap"], strict=True))
        ratios.append(rates["tap"] / rates["direct"])
        added.append(medians["tap"] - medians["direct"])
        sizes.append(memory(tap))
        print(
            f"round {number + 1}: direct {rates['direct']:,.0f}/s, tap {rates['tap']:,.0f}/s "
            f"({ratios[-1]:.2f}), p50 {medians['direct'] * 1e6:.0f} + {added[-1] * 1e6:.0f} µs, "
            f"tap {used[-1] * 1e6:.0f} µs CPU per call, {sizes[-1]:.1f} MiB"
        )
    ratio, late = statistics.median(ratios), statistics.median(added)
    print(f"median: {ratio:.2f} of direct, {late * 1e6:.0f} µs added, {changed} answers changed")
    return int(ratio < 0.5 or late > 0.001 or changed > 0 or sizes[-1] - sizes[0] > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
