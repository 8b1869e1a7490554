"""`make demo` as a user runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from assay.revisions.registry import REVISIONS
from tests.meta.tree import ROOT

SCRIPT = str(ROOT / "scripts" / "demo.py")
DEMO = [sys.executable, SCRIPT]
STRICT_DEMO = [sys.executable, "-W", "error", SCRIPT]
PROCESSES = Path("/proc")
ARROWS = ("→", "←")
HEADS = {
    "everything  stdio       HTTP        WebSocket": 3,
    "reference   stdio       HTTP        WebSocket   plain HTTP": 4,
}
"""The tables in the end, and how many transports each has."""


@pytest.mark.timeout(60)
def test_every_conversation_goes_well() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    shown = subprocess.run(
        STRICT_DEMO, capture_output=True, encoding="utf-8", env=environment, check=False, timeout=60
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    for head, transports in HEADS.items():
        first = lines.index(head) + 1
        rows = [revision.date.ljust(12) + "ok          " * transports for revision in REVISIONS]
        assert lines[first : first + len(rows)] == [row.rstrip() for row in rows]
    every = sum(HEADS.values()) * len(REVISIONS)
    assert sum(" over " in line and line.startswith("20") for line in lines) == every
    assert lines[-1].startswith(f"{every} of {every} conversations went well")
    assert all(arrow in shown.stdout for arrow in ARROWS)
    assert "\033" not in shown.stdout


@pytest.mark.timeout(60)
@pytest.mark.skipif(not PROCESSES.is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize("reason", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_says_so_and_leaves_no_server(reason: signal.Signals) -> None:
    mark = f"DEMO_UNDER_TEST={uuid4()}"
    environment = {**os.environ, **dict([mark.split("=")]), "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(DEMO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as demo:
        assert demo.stdout is not None and demo.stderr is not None
        while b" over HTTP" not in (line := demo.stdout.readline()):
            assert line, "the demo ended before it came to HTTP"
        assert len(processes_with(mark)) == 2
        demo.send_signal(reason)
        _, errors = demo.communicate(timeout=30)
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
        return b""  # it ended meanwhile, or belongs to somebody else
