"""Calls per second of one server with several workers: `python -m bench.workers [--seconds 4] [--rounds 3]`.

The rounds take turns, so that a busy machine slows all alike. wrk needs processor time, too, on the same
cores. So the table has its share, and what a call costs the workers. `gain` is what was measured; `gain of
workers alone` is what they would serve more if the generator ran elsewhere: by the cores that they can use
and their cost for a call.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from .http_load import check, children_cpu, run_wrk
from .process import cpu_seconds, running
from .request import HANDSHAKE_WIRE, PER_REQUEST_WIRE, Wire
from .table import as_markdown

COUNTS: Final = (1, 2, 4)
WIRES: Final[dict[str, Wire]] = {"2026-07-28": PER_REQUEST_WIRE, "handshake, no session": HANDSHAKE_WIRE}
SUBJECT: Final = Path(__file__).parent / "peers" / "assay_async.py"
HEADER: Final = [
    "wire",
    "workers",
    "calls/s",
    "CPU of workers",
    "CPU of wrk",
    "µs a call",
    "spread",
    "gain",
    "gain of workers alone",
]


@dataclass(frozen=True)
class Round:
    rate: float
    server: float
    """Cores that the workers used."""
    generator: float
    """Cores that wrk used."""
    spread: float
    """The least busy worker's CPU time, as a share of the busiest one's."""


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def one_round(pids: list[int], port: int, wire: Wire, seconds: int) -> Round:
    before, generator, begin = [cpu_seconds(pid) for pid in pids], children_cpu(), time.perf_counter()
    figures = run_wrk(port, wire, seconds)
    elapsed = time.perf_counter() - begin
    used = [cpu_seconds(pid) - earlier for pid, earlier in zip(pids, before, strict=True)]
    rate = figures["requests"] / (figures["duration_us"] / 1e6)
    share = (children_cpu() - generator) / elapsed
    return Round(rate, sum(used) / elapsed, share, min(used) / max(*used, 1e-9))


def measure(count: int, wires: dict[str, Wire], seconds: int) -> dict[str, Round]:
    """Start a server, and load it once on each wire."""
    words = [sys.executable, "-m", "assay", "serve", str(SUBJECT), "--transport", "http", "--port", "0"]
    words += ["--workers", str(count)]
    with tempfile.TemporaryFile() as log, running(words, log, pipes=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        found = re.search(rb":(\d+)/", parent.stdout.readline())
        assert found is not None, "the server did not start"
        port = int(found[1])
        while len(pids := children(parent.pid)) < count:
            check(port, PER_REQUEST_WIRE)
        for _ in range(count):
            run_wrk(port, PER_REQUEST_WIRE, 1)
        return {name: one_round(pids, port, wire, seconds) for name, wire in wires.items()}


def cost_of(rounds: list[Round]) -> float:
    """Microseconds of the workers' CPU time for a call."""
    return 1e6 / median(round.rate / round.server for round in rounds)


def rows_of(rounds: dict[tuple[str, int], list[Round]]) -> list[list[str]]:
    rows = []
    for (wire, count), each in rounds.items():
        alone = median(round.rate for round in rounds[wire, 1])
        rate = median(round.rate for round in each)
        cost, cost_alone = cost_of(each), cost_of(rounds[wire, 1])
        rows.append(
            [
                wire,
                str(count),
                f"{rate:,.0f}",
                f"{median(round.server for round in each):.2f}",
                f"{median(round.generator for round in each):.2f}",
                f"{cost:.1f}",
                f"{median(round.spread for round in each):.2f}",
                f"{rate / alone:.2f}",
                f"{min(count, os.cpu_count() or 1) * cost_alone / cost:.2f}",
            ]
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rounds: dict[tuple[str, int], list[Round]] = {}
    for _ in range(options.rounds):
        for count in COUNTS:
            for wire, result in measure(count, WIRES, options.seconds).items():
                rounds.setdefault((wire, count), []).append(result)
    print(f"{os.cpu_count()} cores, shared by server and generator")
    print(as_markdown([HEADER, *rows_of(dict(sorted(rounds.items())))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
