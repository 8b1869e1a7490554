"""Assay signs 1 KB of request state and opens it again, as its default server does.

Each line on standard input asks for one batch of as many times, and is answered with the median in seconds.
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
    took = []
    for _ in range(times):
        begin = clock()
        opened = unseal(seal(payload))
        took.append(clock() - begin)
        assert opened == payload
    return median(took)


def main() -> None:
    server = Server("bench")
    run_batch(server, 200)
    print("ready", flush=True)
    while line := sys.stdin.readline():
        print(run_batch(server, int(line)), flush=True)


if __name__ == "__main__":
    main()
