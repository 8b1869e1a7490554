"""The access log: a line for each request, written by a thread, bounded, and safe to show."""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from assay.transport.http1.access_log import WAITING, AccessLog
from assay.transport.http1.observer import Answered

SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/mcp",
    "client": ("192.0.2.7", 4711),
    "headers": [(b"user-agent", b"agent/1"), (b"mcp-method", b"tools/call"), (b"mcp-name", b"add")],
}


def answered(**scope: Any) -> Answered:
    return Answered({**SCOPE, **scope}, 200, 17, 0.0125)


@contextmanager
def access_log(form: str, said: list[str] | None = None) -> Iterator[tuple[AccessLog, int]]:
    reader, writer = os.pipe()
    log = AccessLog(form, writer, (), ([] if said is None else said).append)
    try:
        yield log, reader
    finally:
        os.close(reader)
        log.close()
        os.close(writer)


def lines(form: str, *requests: Answered) -> list[str]:
    with access_log(form) as (log, reader):
        for request in requests:
            log.observe(request)
        log.close()
        return os.read(reader, 1 << 16).decode().splitlines()


def test_text_has_time_client_request_status_size_and_duration() -> None:
    (line,) = lines("text", answered())
    time, rest = line.split(" ", 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time)
    assert rest == '192.0.2.7 "POST /mcp" 200 17 12.5ms tools/call add "agent/1"'


def test_json_has_the_same_by_name() -> None:
    (line,) = lines("json", answered())
    values = json.loads(line)
    assert values.pop("time").endswith("Z")
    assert values == {
        "client": "192.0.2.7",
        "method": "POST",
        "path": "/mcp",
        "status": 200,
        "bytes": 17,
        "ms": 12.5,
        "pid": os.getpid(),
        "agent": "agent/1",
        "rpc": "tools/call",
        "name": "add",
    }


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_that_a_client_sends_adds_a_line_or_acts_on_a_terminal(form: str) -> None:
    headers = [(b"user-agent", b"\x1b[2J\r\nfake \xff" + b"x" * 5000)]
    (line,) = lines(form, answered(path="/\n\x1b]0;title\x07" + "p" * 5000, headers=headers))
    assert "\x1b" not in line
    assert len(line) < 1500


def test_refused_connection_without_a_request_has_a_line() -> None:
    (line,) = lines("text", Answered({"headers": (), "client": None}, 400, 5, 0.0))
    assert line.endswith('- "- -" 400 5 0.0ms "-"')


def test_lines_are_in_order() -> None:
    paths = [f"/{number}" for number in range(200)]
    written = lines("json", *(answered(path=path) for path in paths))
    assert [json.loads(line)["path"] for line in written] == paths


def test_reader_that_does_not_read_costs_a_bounded_number_of_lines() -> None:
    said: list[str] = []
    with access_log("text", said) as (log, reader):
        for _ in range(2 * WAITING):
            log.observe(answered())
        count = 0
        while count < WAITING:
            count += os.read(reader, 1 << 20).count(b"\n")
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)  # so that the rest fits into the pipe
        log.close()
    assert "lines are left out" in said[0]


def test_reader_that_goes_ends_the_log_and_nothing_else() -> None:
    said: list[str] = []
    reader, writer = os.pipe()
    log = AccessLog("text", writer, (), said.append)
    os.close(reader)
    log.observe(answered())
    log.close()
    log.observe(answered())
    os.close(writer)
    assert said == ["the access log ends: its reader is gone (Broken pipe)"]
