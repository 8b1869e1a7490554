"""`assay client` is honest about clients that never come, never end, crash, or are not there."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import Run, parse_run
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import _HANDLERS
from assay.lab.harness.verdict import Outcome
from assay.revisions.registry import HANDSHAKE
from tests.driving.process import ROOT

pytestmark = [pytest.mark.waits, pytest.mark.timeout(90)]
SINGLE = ("--scenario", "tools_call", "--spec-version", HANDSHAKE[-1].date)
CONNECTS = """
import socket, sys
from urllib.parse import urlsplit
place = urlsplit(sys.argv[-1])
held = socket.create_connection((place.hostname, place.port))
"""
HANDSHAKES_AND_DIES = """
import os, runpy, sys
sys.argv = ["visitor", sys.argv[-1]]
runpy.run_path({visitor!r}, run_name="__main__")
{then}
"""
VISITOR = Path(__file__).parent / "subjects" / "visitor.py"
PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({place!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
{then}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def python(source: str) -> str:
    return shlex.join((sys.executable, "-c", source))


def judged(command: str, *options: str) -> int:
    return main(["client", "--command", command, *SINGLE, *options])


def stored(tmp_path: Path) -> Run:
    (path,) = tmp_path.glob("results/run-*/run.json")
    return parse_run(path.read_bytes())


def is_running(process: int) -> bool:
    """Whether there is such a process; one that is only waited for is gone."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_client_that_does_nothing_proves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged("true") == 3
    assert "the client never connected" in capsys.readouterr().out
    assert [cell.outcome for cell in stored(tmp_path).cells] == [Outcome.INCOMPLETE]


def test_client_that_never_ends_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(python("import time; time.sleep(600)"), "--timeout", "0.5") == 1
    assert "had not ended after 0.5 s" in capsys.readouterr().err
    assert [cell.outcome for cell in stored(tmp_path).cells] == [Outcome.FAILED]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sleep 60", "invalid time interval"),  # it takes the address for something else
        (python("import no_such_module"), "No module named 'no_such_module'"),
        (python("raise SystemExit(3)"), "status 3"),
    ],
    ids=["address", "module", "status"],
)
def test_client_that_fails_before_it_connects_did_not_start(
    command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(command) == 4
    out, err = capsys.readouterr()
    assert out == "" and words in err and "before it connected" in err


@pytest.mark.parametrize(
    ("then", "code"), [("time.sleep(600)", 1), ("pass", 3)], ids=["by time-out", "by itself"]
)
def test_what_a_client_has_started_ends_with_it(tmp_path: Path, then: str, code: int) -> None:
    place = tmp_path / "processes"
    assert judged(python(PARENT.format(place=str(place), then=then)), "--timeout", "2") == code
    processes = place.read_text().split()
    assert len(processes) == 2 and not any(is_running(int(process)) for process in processes)


def test_client_that_is_killed_by_a_signal_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(python("import os; os.kill(os.getpid(), 11)")) == 1
    assert "SIGSEGV" in capsys.readouterr().out


@pytest.mark.parametrize(("then", "code"), [("pass", 0), ("sys.exit(3)", 1), ("os.kill(os.getpid(), 11)", 1)])
def test_crash_after_all_is_done_fails_too(then: str, code: int) -> None:
    assert judged(python(HANDSHAKES_AND_DIES.format(visitor=str(VISITOR), then=then))) == code


@pytest.mark.parametrize("end", ["", "import time; time.sleep(600)"], ids=["leaves", "stays"])
def test_client_that_connects_and_says_nothing_is_never_green(end: str) -> None:
    assert judged(python(CONNECTS + end), "--timeout", "2") == (1 if end else 3)


@pytest.mark.parametrize(
    "command", ["/no/such/client", str(ROOT / "README.md")], ids=["missing", "no program"]
)
def test_command_that_cannot_be_run_did_not_start(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(command) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-2].startswith(f"assay: error: {command}") and "Traceback" not in err


@pytest.mark.parametrize(
    "numbers", [[signal.SIGINT], [signal.SIGINT] * 2, [signal.SIGTERM]], ids=["once", "twice", "terminated"]
)
def test_interruption_leaves_no_client_behind(tmp_path: Path, numbers: list[signal.Signals]) -> None:
    place = tmp_path / "processes"
    os.mkfifo(place)
    client = python(PARENT.format(place=str(place), then="time.sleep(600)"))
    assay = subprocess.Popen(
        [sys.executable, "-m", "assay", "client", "--command", client, *SINGLE],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    processes = place.read_text().split()  # returns when the client has written them
    for number in numbers:
        assay.send_signal(number)
    out, err = assay.communicate(timeout=30)
    assert assay.returncode == 130 and b"Traceback" not in err
    assert not any(is_running(int(process)) for process in processes)
    if len(numbers) == 1:
        assert b"interrupted: " in out and stored(tmp_path).interrupted


def test_fault_of_the_lab_is_never_held_against_the_client(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(cycle: RequestCycle) -> Answer:
        raise ZeroDivisionError("ours")

    monkeypatch.setitem(_HANDLERS, "tools/list", fail)
    assert judged(shlex.join((sys.executable, str(VISITOR)))) == 70
    out, err = capsys.readouterr()
    assert out == "" and "ZeroDivisionError: ours" in err
