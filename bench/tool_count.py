"""The cost of one call with 1, 100 and 10,000 registered tools.

CPU time inside the server's process, without sockets: in a whole exchange, differences of a few per cent
would be lost in noise. Each count has its own process, and they take turns.
"""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from typing import IO, Final

from .process import running, time_limit
from .request import WrongAnswer
from .subject import PEERS, python_of

COUNTS: Final = (1, 100, 10_000)
CALLS: Final = 300
START_TIMEOUT: Final = 120.0


def measure(batches: int, log: IO[bytes]) -> dict[str, list[float]]:
    """Microseconds per call of each batch, by number of tools."""
    costs: dict[str, list[float]] = {str(count): [] for count in COUNTS}
    with ExitStack() as stack:
        children = {}
        for count in COUNTS:
            command = [str(python_of("assay")), str(PEERS / "assay_many.py"), str(count)]
            children[str(count)] = stack.enter_context(running(command, log, pipes=True))
        with time_limit(START_TIMEOUT, "assay_many"):
            for child in children.values():
                read_line(child)
            for _ in range(batches):
                for name, child in children.items():
                    costs[name].append(run_batch(child) * 1e6)
    return costs


def run_batch(child: subprocess.Popen[bytes]) -> float:
    assert child.stdin is not None
    child.stdin.write(b"%d\n" % CALLS)
    return float(read_line(child))


def read_line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise WrongAnswer("the server with many tools ended")
    return line
