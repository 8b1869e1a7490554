"""Assay signs 1 KB of request state and opens it again, with the default sealer of a server.

Each line on standard input requests a batch of so many repetitions. The answer is the median in seconds.
"""

import sys
import time
from os import urandom
from statistics import median

from assay import Server

SIZE = 1024


def run_batch(server: Server, times: int) -> float:
    seal, unseal, clock = server.sealer.seal, server.sealer.open, time.perf_counter
    payload = urandom(SIZE)
    durations = []
    for _ in range(times):
        begin = clock()
        opened = unseal(seal(payload))
        durations.append(clock() - begin)
        assert opened == payload
    return median(durations)


def main() -> None:
    server = Server("bench")
    run_batch(server, 200)
    print("ready", flush=True)
    while line := sys.stdin.readline():
        print(run_batch(server, int(line)), flush=True)


if __name__ == "__main__":
    main()
