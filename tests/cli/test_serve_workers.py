"""`assay serve --workers` and what operators see: wrong values are refused in one line, and what is asked for
is served."""

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.exit_code import ExitCode
from assay.cli.main import main
from tests.driving.process import environment
from tests.transport.workers.workers import PATIENCE, Workers, await_end

Output = pytest.CaptureFixture[str]
HTTP = ("serve", "everything", "--transport", "http")


@pytest.mark.parametrize(
    ("words", "problem", "fix"),
    [
        ((*HTTP, "--workers", "0"), "'0' is not a number of workers", "from 1 to 64"),
        ((*HTTP, "--workers", "-1"), "-1", "--workers"),
        ((*HTTP, "--workers", "x"), "'x' is not a number of workers", "from 1 to 64"),
        ((*HTTP, "--workers", "2.5"), "'2.5' is not a number of workers", "from 1 to 64"),
        ((*HTTP, "--workers", "65"), "'65' is not a number of workers", "from 1 to 64"),
        ((*HTTP, "--workers", "²"), "is not a number of workers", "from 1 to 64"),
        ((*HTTP, "--workers"), "--workers", ""),
        ((*HTTP, "--worker-timeout", "1"), "too short", "2 or more"),
        ((*HTTP, "--worker-timeout", "soon"), "not a number of seconds", ""),
        ((*HTTP, "--access-log", "xml"), "xml", "json"),
        (("serve", "everything", "--workers", "2"), "--workers has no effect on stdio", "--transport http"),
        (
            ("serve", "everything", "--worker-timeout", "9"),
            "--worker-timeout has no effect",
            "--transport http",
        ),
        (("serve", "everything", "--metrics"), "--metrics has no effect on stdio", "--transport http"),
        (("serve", "everything", "--access-log"), "--access-log has no effect on stdio", "--transport http"),
    ],
)
def test_wrong_option_is_refused_with_cause_and_fix(
    words: tuple[str, ...], problem: str, fix: str, capsys: Output
) -> None:
    assert main([*words]) == ExitCode.USAGE
    output = capsys.readouterr()
    assert output.out == ""
    assert problem in output.err
    assert fix in output.err
    assert len(output.err.splitlines()) <= 3


def test_taken_port_is_named_before_any_worker_starts(capsys: Output) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert main([*HTTP, "--workers", "2", "--port", port]) == ExitCode.NOT_STARTED
    assert capsys.readouterr().err.splitlines() == [
        f"assay: error: port {port} is in use on 127.0.0.1",
        "  choose another with --port, or --port 0 for any",
    ]


def run(*words: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "assay", *words, "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment(), **pipes, **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("1 / 0\n", 4, "importing broken.py failed: ZeroDivisionError"),
        ("x = 1\n", 2, "no server in broken.py"),
        ("def broken(:\n", 4, "SyntaxError"),
    ],
)
def test_server_that_cannot_be_loaded_is_one_message_however_many_workers(
    text: str, code: int, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text(text)
    process = run("serve", "broken.py", "--transport", "http", "--workers", "8", cwd=tmp_path)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (code, "")
    assert err.count("assay: error:") == 1
    assert problem in err


@pytest.mark.long
def test_access_log_and_numbers_of_all_workers_and_the_end(tmp_path: Path) -> None:
    words = ("--workers", "2", "--metrics", "--access-log", "json", "-v")
    with run(*HTTP, *words, cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        served = Workers.__new__(Workers)
        served.process, served._errors = process, tmp_path / "none"
        served.port = int(re.findall(r":(\d+)/", process.stdout.readline())[0])

        def number(series: str) -> float:
            with served.request("GET", "/metrics") as response:
                text = response.read().decode()
            match = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
            return 0.0 if match is None else float(match[1])

        # From here on both accept connections: of twenty, each gets some.
        while number("assay_workers") < 2:
            pass
        for _ in range(20):
            served.request("GET", "/ready").close()
        ready = 'assay_http_requests_total{method="GET",status="200"}'
        while number(ready) < 20:
            pass
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        await_end(map(int, children))
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert [line["path"] for line in lines].count("/ready") == 20
    assert {str(line["pid"]) for line in lines} == set(children)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "Traceback" not in err
