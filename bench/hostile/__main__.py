"""Attack a server, and measure what is left for an ordinary client: `python -m bench.hostile [NAME …]`.

Each round attacks the server itself and then, as the control, another process, with the same input: attacker,
server and client share the cores of one machine. The ratio of the two throughputs is the share that an
ordinary client keeps. Memory is the growth of the server's resident set five seconds after the attack, and
peak its largest growth until then.

Exit codes: 0 every target was met, 1 one was missed, 2 no such attack.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Final

from bench.process import peak_rss_mb, print_status, reset_peak, rss_mb, running
from bench.subject import PEERS
from bench.table import as_markdown

from .attack import PLANS, Plan
from .ordinary import OrdinaryClient, Service

SETTLE: Final = 5.0
"""Seconds after an attack before memory is measured."""
LEAST_SHARE: Final = 0.5
HEADER: Final = [
    "attack",
    "sent",
    "refused",
    "calls/s kept",
    "slowest def call",
    "memory",
    "peak",
    "session",
    "empty 200",
]


@dataclass(frozen=True)
class Round:
    sent: int
    refused: int
    empty: int
    share: float
    slowest: float
    memory: float
    peak: float
    session_alive: bool
    failures: list[str]


@contextmanager
def target() -> Iterator[tuple[int, int]]:
    """A server in its own process: its process id and port."""
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, str(PEERS / "assay_target.py"), "0"]
        with running(command, log, pipes=True) as child:
            assert child.stdout is not None
            url = child.stdout.readline().decode()
            yield child.pid, int(url.split(":")[2].split("/")[0])


async def attack(
    name: str, port: int, seconds: float, client: OrdinaryClient
) -> tuple[Service, dict[str, int]]:
    """Let the ordinary client work while another process attacks the port."""
    command = (sys.executable, "-m", "bench.hostile.attack", name, str(port), str(seconds))
    attacker = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        service = await client.work(seconds)
        output, _ = await attacker.communicate()
    finally:
        if attacker.returncode is None:
            attacker.kill()
            await attacker.wait()
    return service, json.loads(output)


async def measure(name: str, seconds: float) -> Round:
    with target() as (pid, port), target() as (_, decoy):
        client = OrdinaryClient(port)
        await client.open_session()
        await client.work(1.0)  # warm up
        control, _ = await attack(name, decoy, seconds, client)
        before = rss_mb(pid)
        reset_peak(pid)
        service, tally = await attack(name, port, seconds, client)
        await asyncio.sleep(SETTLE)
        return Round(
            tally["sent"],
            tally["refused"],
            tally["empty"],
            service.rate / control.rate,
            service.slowest,
            rss_mb(pid) - before,
            peak_rss_mb(pid) - before,
            await client.session_is_alive(),
            service.failures,
        )


def row(plan: Plan, rounds: list[Round]) -> list[str]:
    alive = sum(each.session_alive for each in rounds)
    return [
        plan.title,
        str(median(each.sent for each in rounds)),
        str(median(each.refused for each in rounds)),
        f"{median(each.share for each in rounds):.2f}",
        f"{max(each.slowest for each in rounds):.2f} s",
        f"{max(each.memory for each in rounds):.0f} MB",
        f"{max(each.peak for each in rounds):.0f} MB",
        f"{alive} of {len(rounds)}",
        str(sum(each.empty for each in rounds)),
    ]


def misses(plan: Plan, rounds: list[Round]) -> Iterator[str]:
    if median(each.share for each in rounds) < LEAST_SHARE:
        yield f"{plan.title}: the ordinary client keeps less than {LEAST_SHARE:.0%} of its calls"
    if max(each.memory for each in rounds) > plan.most_memory:
        yield f"{plan.title}: the server keeps more than {plan.most_memory:.0f} MB"
    if max(each.peak for each in rounds) > plan.most_peak:
        yield f"{plan.title}: the server used more than {plan.most_peak:.0f} MB"
    if max(each.slowest for each in rounds) > plan.longest_call:
        yield f"{plan.title}: a call of the ordinary client took more than {plan.longest_call:g} s"
    if not all(each.session_alive for each in rounds):
        yield f"{plan.title}: the ordinary client lost its session"
    if any(each.empty for each in rounds):
        yield f"{plan.title}: a response claimed success without content"
    for each in rounds:
        for failure in each.failures[:1]:
            yield f"{plan.title}: a call of the ordinary client failed: {failure}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__.split("\n")[0])
    parser.add_argument("attack", nargs="*", metavar="NAME", help=f"one of {', '.join(PLANS)}; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="rounds per attack; default: 3")
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of an attack; default: 5")
    options = parser.parse_args()
    unknown = [name for name in options.attack if name not in PLANS]
    if unknown:
        parser.error(f"no such attack: {unknown[0]}; one of {', '.join(PLANS)}")
    rows: list[list[str]] = []
    missed: list[str] = []
    for name in options.attack or PLANS:
        rounds = []
        for number in range(options.rounds):
            print_status(f"{name}: round {number + 1} of {options.rounds}")
            rounds.append(asyncio.run(measure(name, options.seconds)))
        rows.append(row(PLANS[name], rounds))
        missed += misses(PLANS[name], rounds)
    print(as_markdown([HEADER, *rows]))
    for line in missed:
        print(f"MISS {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
