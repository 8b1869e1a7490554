"""`make demo` as a user runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from assay.lab.harness.run.run import parse_run
from assay.revisions.registry import REVISIONS
from tests.meta.tree import ROOT

SCRIPT = str(ROOT / "scripts" / "demo.py")
DEMO = [sys.executable, SCRIPT]
STRICT_DEMO = [sys.executable, "-W", "error", SCRIPT]
# Background processes ignore SIGINT, and their children inherit that.
RESET_SIGINT = (
    "import os, signal, sys\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "os.execv(sys.executable, sys.argv[1:])"
)
INTERRUPTIBLE_DEMO = [sys.executable, "-c", RESET_SIGINT, *DEMO]
# The whole suite is for `make demo`; that the bundled servers pass it is tested with the suite.
NARROW = ["--scenario", "lifecycle-ping", "--scenario", "tools-definitions"]
PROCESSES = Path("/proc")
ARROWS = ("→", "←")
HEADS = {
    "everything  stdio       HTTP        WebSocket": 3,
    "reference   stdio       HTTP        WebSocket   plain HTTP": 4,
}
"""The tables at the end, with their number of transports."""
JUDGED = (("http", "ws"), ("stdio", "http", "ws"))
"""Transports on which the lab judges the servers, fewest first."""


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "utf-8", **extra}


@pytest.mark.timeout(120)
def test_every_conversation_passes_and_the_servers_conform(tmp_path: Path) -> None:
    line = [*STRICT_DEMO, *NARROW, "--output", str(tmp_path)]
    demo = subprocess.run(
        line, capture_output=True, encoding="utf-8", env=environment(), check=False, timeout=110
    )
    assert (demo.returncode, demo.stderr) == (0, "")
    lines = demo.stdout.splitlines()
    for head, transports in HEADS.items():
        first = lines.index(head) + 1
        rows = [revision.date.ljust(12) + "ok          " * transports for revision in REVISIONS]
        assert lines[first : first + len(rows)] == [row.rstrip() for row in rows]
    every = sum(HEADS.values()) * len(REVISIONS)
    assert sum(" over " in line and line.startswith("20") for line in lines) == every
    assert lines[-2] == f"{every} of {every} conversations passed"
    assert lines[-1].startswith("2 of 2 servers conform")
    assert all(arrow in demo.stdout for arrow in ARROWS)
    assert "\033" not in demo.stdout
    expect_matrices(lines)
    expect_stored_runs(tmp_path)


def expect_matrices(lines: list[str]) -> None:
    words = [line.split() for line in lines]
    for transports in JUDGED:
        begin = words.index(["passed", *transports])
        rows = words[begin + 1 : begin + 1 + len(REVISIONS)]
        assert [row[0] for row in rows] == [revision.date for revision in REVISIONS]
        assert {word for row in rows for word in row[1:]} <= {"of", "1", "2"}


def expect_stored_runs(results: Path) -> None:
    runs = [parse_run(path.read_bytes()) for path in results.glob("run-*/run.json")]
    places = [{(cell.transport, cell.revision) for cell in run.cells} for run in runs]
    assert sorted(map(len, places)) == [len(transports) * len(REVISIONS) for transports in JUDGED]


def test_a_server_that_does_not_conform_is_reported(tmp_path: Path) -> None:
    baseline = tmp_path / "known.yaml"
    baseline.write_text("server: [lifecycle-ping]\n", "utf-8")
    options = ["--scenario", "lifecycle-ping", "--output", str(tmp_path), "--baseline", str(baseline)]
    options += ["--spec-version", REVISIONS[-1].date]
    program = (
        "import demo_lab\n"
        f"with demo_lab.lab_process('everything', ['stdio'], {options}) as run:\n"
        "    print(run.show())"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "scripts",
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        check=False,
        timeout=60,
    )
    assert outcome.stdout.splitlines()[-1] == "False"
    assert "the lab ended with exit code 1" in outcome.stdout


@pytest.mark.timeout(120)
@pytest.mark.skipif(not PROCESSES.is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("reason", "text"),
    [(signal.SIGINT, b" over HTTP"), (signal.SIGTERM, "←".encode())],
    ids=["HTTP", "stdio"],
)
def test_an_interrupted_demo_leaves_no_process(reason: signal.Signals, text: bytes, tmp_path: Path) -> None:
    mark = f"DEMO_UNDER_TEST={uuid4()}"
    marked = environment(**dict([mark.split("=")]))
    command = [*INTERRUPTIBLE_DEMO, "--output", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=marked) as demo:
        assert demo.stdout is not None and demo.stderr is not None
        while text not in (line := demo.stdout.readline()):
            assert line, "the demo ended before"
        assert len(processes_with(mark)) > 3  # the demo, a server, and two labs
        demo.send_signal(reason)
        _, errors = demo.communicate(timeout=60)
    assert (demo.returncode, errors) == (130, b"")
    assert processes_with(mark) == []


def processes_with(mark: str) -> list[str]:
    """Processes that inherited this environment."""
    return [
        path.parent.name for path in PROCESSES.glob("[0-9]*/environ") if mark.encode() in read_if_there(path)
    ]


def read_if_there(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it exited, or belongs to another user
