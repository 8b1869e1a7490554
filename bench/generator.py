"""`assay load` compared with wrk and with a bare loop of sockets: the same server, the same requests.

    python -m bench.generator [--seconds 4] [--rounds 3]

The three take turns. Rates should agree within 10 %; otherwise the slower generator is the limit, and
`assay load` says so itself. On a busy machine, compare the server's CPU time for a call instead.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from .http_load import CONNECTIONS, PATH, START_TIMEOUT, check, run_wrk
from .process import Stopwatch, running, time_limit
from .request import PER_REQUEST_WIRE
from .subject import PEERS

BETWEEN: Final = 10.0
"""Per cent by which the rates may differ."""


class Rate(NamedTuple):
    """Calls in a second, and microseconds of the server's CPU time for one, if they are measured."""

    rate: float
    cpu_us: float | None = None


def bare_loop(port: int, seconds: int) -> Rate:
    """The rate of a loop that writes the same bytes, reads the answer, and does nothing else."""
    body = PER_REQUEST_WIRE.body.encode()
    fields = {**PER_REQUEST_WIRE.headers, "host": "localhost", "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    request = f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode() + body
    poll = select.epoll()
    sockets = {}
    for _ in range(CONNECTIONS):
        each = socket.create_connection(("127.0.0.1", port))
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sockets[each.fileno()] = each
        poll.register(each.fileno(), select.EPOLLIN)
        each.send(request)
    count = 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, _ in poll.poll():
            if sockets[number].recv(65536).endswith(b"}"):
                count += 1
                sockets[number].send(request)
    for each in sockets.values():
        each.close()
    return Rate(count / seconds)


def wrk(port: int, seconds: int) -> Rate:
    figures = run_wrk(port, PER_REQUEST_WIRE, seconds)
    return Rate(figures["requests"] / (figures["duration_us"] / 1e6))


def assay_load(port: int, seconds: int) -> Rate:
    """
    Raises:
        ValueError: its generator was the limit.
    """
    words = [
        *(sys.executable, "-m", "assay", "load", f"http://127.0.0.1:{port}{PATH}", "--scenario", "calls"),
        *("--tool", "add", "--allow-effects", "--users", str(CONNECTIONS), "--seconds", str(seconds)),
        *("--warm-up", "0.5", "--no-floor", "--json"),
    ]
    done = subprocess.run(words, capture_output=True, check=False, timeout=seconds + 60)
    result: dict[str, Any] = json.loads(done.stdout)
    if result["rate"] is None:
        raise ValueError(result["saturated"])
    return Rate(result["rate"], result["server"]["cpu_us"])


GENERATORS: Final[dict[str, Callable[[int, int], Rate]]] = {
    "wrk": wrk,
    "assay load": assay_load,
    "bare loop": bare_loop,
}


def measure(seconds: int, rounds: int) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {name: [] for name in GENERATORS}
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1024) as listening,
        Path("/dev/null").open("wb") as log,
    ):
        port, descriptor = listening.getsockname()[1], listening.fileno()
        command = [sys.executable, str(PEERS / "assay_listen.py"), "assay_async", str(descriptor)]
        with running(command, log, keep=(descriptor,)) as child:
            with time_limit(START_TIMEOUT, "assay"):
                check(port, PER_REQUEST_WIRE)
            wrk(port, 1)
            for _ in range(rounds):
                for name, run in GENERATORS.items():
                    watch, begin = Stopwatch(child.pid), time.perf_counter()
                    try:
                        rate = run(port, seconds)
                    except ValueError as saturated:
                        print(f"{name:<11} {saturated}", flush=True)
                        continue
                    used = watch.cpu_share() * (time.perf_counter() - begin)
                    each = rate.cpu_us or used * 1e6 / max(rate.rate * seconds, 1.0)
                    rates[name].append(rate.rate)
                    print(
                        f"{name:<11} {rate.rate:9.0f}/s, server {each:.0f} µs of CPU for a call", flush=True
                    )
    return rates


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.generator")
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rates = measure(options.seconds, options.rounds)
    medians = {name: median(values) for name, values in rates.items() if values}
    reference = max(medians.values())
    for name, rate in medians.items():
        print(f"median of {name:<11} {rate:9.0f}/s, {rate / reference - 1:+.1%}")
    alike = len(medians) == len(GENERATORS) and min(medians.values()) >= reference * (1 - BETWEEN / 100)
    print("within 10 %" if alike else "not within 10 %: compare the CPU time, and the load of the machine")
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
