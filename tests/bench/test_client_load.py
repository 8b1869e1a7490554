"""The load of the client benchmark, on this interpreter: figures, and an end when an answer is wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.client_load import CALLERS, load, read_line
from bench.process import running
from bench.request import WrongAnswer
from bench.result import ClientSample
from bench.subject import ASSAY, PEERS

(OURS,) = (caller for caller in CALLERS if caller.name == ASSAY)


def test_a_client_reports_its_calls() -> None:
    task = {"transport": "memory", "target": None, "core": 0}
    command = [sys.executable, *OURS.command(task)[1:]]
    with running(command, sys.stderr.buffer, pipes=True) as child:
        assert read_line(child) == b"ready\n"
        for at_once in (1, 4):
            sample = ClientSample(round=0, **load(child, 0.02, at_once))
            assert sample.rate > 0 and sample.p99_us >= sample.p50_us > 0 and sample.cpu_us > 0


def test_a_client_that_ends_has_no_figures() -> None:
    command = [sys.executable, "-c", "pass"]
    with running(command, sys.stderr.buffer, pipes=True) as child, pytest.raises(WrongAnswer):
        read_line(child)


def test_a_wrong_sum_ends_the_client() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(PEERS)!r})\n"
        "import contextlib, client_loop\n"
        "@contextlib.asynccontextmanager\n"
        "async def connected(transport, target):\n"
        "    async def call(): return 4\n"
        "    yield call\n"
        "client_loop.run(connected)\n"
    )
    task = json.dumps({"transport": "memory", "target": None, "core": 0})
    command = [sys.executable, "-c", program, task]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=20)
    assert done.returncode and b"1 + 2 is not 4" in done.stderr
