"""`assay tap` as a process: transparent on stdio, and complete on disk after any kill."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.trace.frame import Kind
from tests.lab.tap.traffic import OFFER, recorded

pytestmark = pytest.mark.long
LIMIT = 20.0
TAP = (sys.executable, "-m", "assay", "tap", "--no-judge", "-o")
ECHO = (
    "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line[::-1]); sys.stdout.buffer.flush()"
)
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": OFFER}).encode()


def run(path: Path, program: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [*TAP, str(path), "--", sys.executable, "-c", program]
    return subprocess.run(command, input=data, capture_output=True, timeout=LIMIT, check=False)


def traces(path: Path) -> list[Path]:
    return sorted(path.glob("tap-*/*.ndjson"))


def test_a_shim_writes_nothing_but_the_bytes_of_the_server(tmp_path: Path) -> None:
    data = os.urandom(200_000) + b"\nrest"
    expected = subprocess.run(
        [sys.executable, "-c", ECHO], input=data, capture_output=True, check=True
    ).stdout
    result = run(tmp_path, ECHO, data)

    assert result.stdout == expected
    assert result.returncode == 0
    frames = read_trace(traces(tmp_path)[0]).frames
    sent = b"".join(frame.raw for frame in frames if frame.kind is Kind.LINE and frame.sender == "driver")
    assert sent == data


def test_standard_error_and_the_status_pass_through(tmp_path: Path) -> None:
    result = run(tmp_path, "import sys; sys.stderr.write('to the host\\n'); sys.exit(7)")

    assert result.returncode == 7
    assert b"to the host\n" in result.stderr
    kinds = [frame.kind for frame in read_trace(traces(tmp_path)[0]).frames]
    assert Kind.ERRORS in kinds
    assert Kind.EXIT in kinds


def test_a_server_that_dies_by_a_signal_is_seen_to(tmp_path: Path) -> None:
    result = run(tmp_path, "import os; print('last', flush=True); os.kill(os.getpid(), 9)")

    assert result.returncode == -signal.SIGKILL
    assert result.stdout == b"last\n"
    trace = read_trace(traces(tmp_path)[0])
    assert [frame.info["status"] for frame in trace.frames if frame.kind is Kind.EXIT] == [-9]


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


SIGNALLED = """
import signal, sys, time
def stop(*_): print("stopped", flush=True); sys.exit(3)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True: signal.pause()
"""


def test_signals_reach_the_server(tmp_path: Path) -> None:
    with started(*TAP, str(tmp_path), "--", sys.executable, "-c", SIGNALLED) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == b"stopped\n"
        assert process.wait(LIMIT) == 3


def test_a_killed_shim_leaves_what_passed_and_no_server(tmp_path: Path) -> None:
    program = "import os, sys\nprint(os.getpid(), flush=True)\n" + ECHO
    with started(*TAP, str(tmp_path), "--", sys.executable, "-c", program) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        server = int(process.stdout.readline())
        process.stdin.write(b"abc\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        process.kill()
        process.wait(LIMIT)
        while Path(f"/proc/{server}/stat").exists() and _state(server) != "Z":
            os.sched_yield()

    lines = [frame.raw for frame in read_trace(traces(tmp_path)[0]).frames if frame.kind is Kind.LINE]
    assert lines[-2:] == [b"abc\n", answer] or answer == b"\n"


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@contextmanager
def on_http(path: Path, url: str, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str, int]]:
    with started(
        *(
            sys.executable,
            "-m",
            "assay",
            "tap",
            "--listen",
            "127.0.0.1:0",
            "--to",
            url,
            "-o",
            str(path),
            *options,
        )
    ) as process:
        assert process.stderr is not None
        address = process.stderr.readline().decode().split()[1]
        host, _, port = address.removeprefix("http://").partition("/")[0].rpartition(":")
        yield process, host, int(port)


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    with started(
        sys.executable, "-m", "assay", "serve", "reference", "--transport", "http", "--port", "0"
    ) as process:
        assert process.stdout is not None
        url = ""
        while not url.startswith("http"):
            url = process.stdout.readline().decode().split()[-1]
            url = url if url.endswith("/mcp") else ""
        yield process, url


def initialized(host: str, port: int) -> bytes:
    connection = http.client.HTTPConnection(host, port, timeout=LIMIT)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", INITIALIZE, {**headers, "Authorization": "Bearer secret-token-123"})
    answer = connection.getresponse().read()
    connection.close()
    return answer


def test_http_traffic_is_recorded_judged_and_survives_kills_of_both(tmp_path: Path) -> None:
    with served() as (server, url), on_http(tmp_path, url) as (tap, host, port):
        assert b"serverInfo" in initialized(host, port)
        server.kill()
        server.wait(LIMIT)
        assert b"no connection" in initialized(host, port)
        tap.kill()
        tap.wait(LIMIT)

    recordings = [read_trace(file) for file in traces(tmp_path)]
    assert any(
        frame.kind is Kind.BODY and b"serverInfo" in frame.raw for each in recordings for frame in each.frames
    )
    assert not any(b"secret-token" in file.read_bytes() for file in traces(tmp_path))


def test_ctrl_c_ends_a_tap_with_its_judgement_stored(tmp_path: Path) -> None:
    with served() as (_, url), on_http(tmp_path, url, "--check") as (tap, host, port):
        initialized(host, port)
        tap.send_signal(signal.SIGINT)
        assert tap.wait(LIMIT) == 0
        assert tap.stderr is not None
        assert b"0 failures" in tap.stderr.read()

    (run_file,) = tmp_path.glob("tap-*/run.json")
    assert {cell["scenario"] for cell in json.loads(run_file.read_bytes())["cells"]} == {
        "tap-1",
        "tap-1-client",
    }


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "nothing to tap"),
        (["--to", "http://x", "--", "y"], "not both"),
        (["--to", "ftp://x/"], "not a URL"),
        (["--to", "http://127.0.0.1:1", "--listen", "4000x"], "HOST:PORT"),
        (["--to", "http://127.0.0.1:1", "--listen", "203.0.113.9:1"], "cannot listen on 203.0.113.9:1"),
        (["--to", "http://x", "--keep", "1k"], "no room"),
        (["--to", "http://x", "--rotate", "lots"], "not a size"),
        (["--to", "http://x", "--redact-env", "NOT_SET_ANYWHERE"], "not in the environment"),
        (["--check", "--", "x"], "--check goes with --to"),
        (["--to", "http://x", "--to-where", "y"], "unknown option"),
    ],
)
def test_wrong_usage_is_named(
    words: list[str],
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["tap", *words]) == 2
    assert text in capsys.readouterr().err


def test_a_command_that_is_not_there_did_not_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tap", "-o", str(tmp_path), "--", "no-such-program"]) == 4
    assert "cannot be run" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["har", "otlp", "pcapng"])
def test_traffic_is_exported_by_report(form: str, tmp_path: Path) -> None:
    directory = recorded(tmp_path)
    assert main(["judge", str(directory), "--format", "json"]) == 0
    file = tmp_path / "out"
    assert main(["report", str(directory), "--format", form, "-o", str(file)]) == 0
    assert file.stat().st_size > 500
