"""HTTP: load on one server process by `wrk`, with one thread and 32 connections."""

from __future__ import annotations

import http.client
import json
import os
import resource
import socket
import subprocess
from typing import IO, Any, Final

from .process import Stopwatch, rss_mb, running, time_limit
from .request import Wire, WrongAnswer, expect_answer
from .result import Sample
from .subject import HERE, Subject

CONNECTIONS: Final = 32
START_TIMEOUT: Final = 60.0
PATH: Final = "/mcp"
FAULTS: Final = {
    "refused": "answers were not 2xx",
    "connect": "connections failed",
    "read": "reads failed",
    "write": "writes failed",
    "timeout": "answers took too long",
}


class VoidFigure(Exception):
    """The load had errors: the figure must not be used."""


def measure(subject: Subject, wire: Wire, number: int, seconds: int, warmup: int, log: IO[bytes]) -> Sample:
    """Start the subject, check its answer, load it, and check its answer again.

    Raises:
        WrongAnswer, VoidFigure, TookTooLong: the measurement failed.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        port = listening.getsockname()[1]
        descriptor = listening.fileno()
        with running(subject.http_command(descriptor), log, keep=(descriptor,)) as child:
            with time_limit(START_TIMEOUT, subject.name):
                check(port, wire)
            if warmup:
                run_wrk(port, wire, warmup)
            watch, before = Stopwatch(child.pid), children_cpu()
            figures = run_wrk(port, wire, seconds)
            server_cpu = watch.cpu_share()
            client_cpu = (children_cpu() - before) / (figures["duration_us"] / 1e6)
            memory = rss_mb(child.pid)
            with time_limit(START_TIMEOUT, subject.name):
                check(port, wire)
    return Sample(
        number,
        figures["requests"] / (figures["duration_us"] / 1e6),
        figures["p50_us"],
        figures["p99_us"],
        server_cpu,
        client_cpu,
        memory,
    )


def check(port: int, wire: Wire) -> None:
    """Make one real call.

    Raises:
        WrongAnswer: the subject does not serve the call.
    """
    expect_answer(ask(port, wire), wire)


def ask(port: int, wire: Wire) -> bytes:
    """
    Raises:
        WrongAnswer: no answer, or not JSON.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_TIMEOUT)
    try:
        connection.request("POST", PATH, wire.body, wire.headers)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise WrongAnswer(f"no answer: {error}") from error
    finally:
        connection.close()
    media = answer.getheader("content-type", "")
    if answer.status != 200 or not media.startswith("application/json"):
        raise WrongAnswer(f"answered {answer.status} {media}: {body[:300]!r}")
    return body


def run_wrk(port: int, wire: Wire, seconds: int) -> dict[str, Any]:
    command = [
        *("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s"),
        *("-s", str(HERE / "call.lua"), f"http://127.0.0.1:{port}{PATH}"),
    ]
    environment = {
        **os.environ,
        "BENCH_BODY": wire.body,
        "BENCH_HEADERS": "\n".join(f"{name}: {value}" for name, value in wire.headers.items()),
    }
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=seconds + 30, text=True
        )
    except subprocess.SubprocessError as error:
        raise VoidFigure(f"wrk failed: {error}") from error
    return read_figures(done.stdout)


def read_figures(output: str) -> dict[str, Any]:
    """
    Raises:
        VoidFigure: there were errors, or no requests.
    """
    figures: dict[str, Any] = json.loads(output.rstrip().rpartition("\n")[2])
    for name, description in FAULTS.items():
        if figures[name]:
            raise VoidFigure(f"{figures[name]} {description}")
    if not figures["requests"]:
        raise VoidFigure("no request was answered")
    return figures


def children_cpu() -> float:
    """CPU time of the children that have ended; the difference of two calls is that of wrk."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
