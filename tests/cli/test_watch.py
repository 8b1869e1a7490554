"""`assay server --watch`: a server that is edited while it is watched."""

import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import parse_run
from assay.revisions.registry import HANDSHAKE
from tests.cli.test_server import free_port
from tests.driving.process import ROOT
from tests.driving.warm_python import warm_python

pytestmark = pytest.mark.timeout(90)
SUBJECT = Path(__file__).parent / "subjects" / "subject.py"
SOURCE = """
import runpy, sys
sys.argv = ["subject", "{fault}"]
runpy.run_path("{subject}", run_name="__main__")
"""
FINE, FAULTY = "jsonrpc.ids", "jsonrpc.unknown-method"
SCENARIOS = ("--scenario", FINE, "--scenario", FAULTY)
ESCAPE = "\033["


class Session:
    """The command in a directory, and the lines that it has written."""

    def __init__(self, folder: Path, *options: str, output: int = subprocess.PIPE) -> None:
        command = (warm_python(), "-m", "assay", "server", *options, "--watch", ".")
        self.folder = folder
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        self.lines: list[str] = []

    def until(self, words: str) -> list[str]:
        """The next lines, up to the one with these words."""
        assert self.process.stdout is not None
        lines = []
        while line := self.process.stdout.readline().decode():
            lines.append(line.rstrip("\n"))
            if words in line:
                self.lines += lines
                return lines
        raise AssertionError(f"ended with {self.process.wait()} before {words!r}: {self.lines + lines}")

    def edit(self, fault: str) -> None:
        write(self.folder, SOURCE.format(fault=fault, subject=SUBJECT))

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        self.process.communicate()
        return self.process.returncode

    def ends_within(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


def write(folder: Path, text: str) -> None:
    """As editors do: a new file in the place of the old one."""
    fresh = folder / "server.py~"
    fresh.write_text(text, "utf-8")
    fresh.replace(folder / "server.py")


def watched(
    folder: Path, fault: str, *options: str, output: int = subprocess.PIPE, first: str = ""
) -> Session:
    write(folder, first + SOURCE.format(fault=fault, subject=SUBJECT))
    command = f"{warm_python()} server.py"
    revision = ("--spec-version", HANDSHAKE[-1].date)
    return Session(folder, "--command", command, *revision, *SCENARIOS, *options, output=output)


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    """Ended, whatever became of the test."""
    begun: list[Session] = []
    yield begun
    for session in begun:
        if session.process.poll() is None:
            session.process.kill()
            session.process.communicate()


def played(lines: list[str]) -> list[str]:
    """The scenarios in the order in which they were told of."""
    marks = ("ok ", "FAILED ", "warned ")
    return [line.split()[1] for line in lines if line.startswith(marks)]


def runs(folder: Path) -> list[Path]:
    return sorted(folder.glob("results/run-*/run.json"))


def test_after_an_edit_what_failed_comes_first_and_the_fault_is_gone(
    tmp_path: Path, sessions: list[Session]
) -> None:
    sessions.append(session := watched(tmp_path, "wrong-code"))
    first = session.until("waiting for a change")
    assert played(first) == [FINE, FAULTY]
    assert "does not conform: 1 passed, 1 failed" in first
    session.edit("none")
    second = session.until("waiting for a change")
    assert played(second) == [FAULTY, FINE]
    assert "of 1 that failed last, 1 pass now" in second
    assert second[:2] == ["last: does not conform: 1 passed, 1 failed", "changed: server.py"]
    assert "conforms: 2 passed" in second
    assert session.end() == 130


def test_only_the_last_round_stays_stored_and_a_pipe_gets_text_alone(
    tmp_path: Path, sessions: list[Session]
) -> None:
    sessions.append(session := watched(tmp_path, "wrong-code"))
    session.until("waiting for a change")
    session.edit("none")
    session.until("waiting for a change")
    assert session.end(signal.SIGTERM) == 130
    assert ESCAPE not in "".join(session.lines)  # it is a pipe
    (stored,) = runs(tmp_path)
    assert {cell.outcome for cell in parse_run(stored.read_bytes()).cells} == {"passed"}
    assert len(list(tmp_path.glob("results/server-*"))) == 2


@pytest.mark.parametrize("words", ["waiting for a change", "stdio: "], ids=["at rest", "at work"])
def test_impatience_ends_it_no_less_in_order(tmp_path: Path, sessions: list[Session], words: str) -> None:
    sessions.append(session := watched(tmp_path, "none"))
    session.until(words)
    while not session.ends_within(0.01):
        session.process.send_signal(signal.SIGINT)
    lines = session.process.communicate()[0].decode()
    assert session.process.returncode == 130
    assert "Traceback" not in lines and "ignored" not in lines


def test_server_that_does_not_start_is_shown_and_waited_for(tmp_path: Path, sessions: list[Session]) -> None:
    sessions.append(session := watched(tmp_path, "none"))
    session.until("waiting for a change")
    write(tmp_path, "def (")
    lines = "\n".join(session.until("waiting for a change"))
    assert "exited with status 1" in lines and "stderr: SyntaxError: invalid syntax" in lines
    assert len(runs(tmp_path)) == 1
    session.edit("none")
    assert "conforms: 2 passed" in session.until("waiting for a change")
    assert session.end() == 130


def test_change_in_the_middle_of_a_round_begins_another(tmp_path: Path, sessions: list[Session]) -> None:
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    announce = 'open("begun", "w").close()'  # waits until somebody reads
    one_by_one = ("--jobs", "1", "--isolate", "--timeout", "1000")
    sessions.append(session := watched(tmp_path, "silent", *one_by_one, first=announce))
    for _ in ("the server is got to know", FINE, FAULTY):
        begun.read_bytes()
    session.edit("none")  # while the last of them waits for an answer that never comes
    lines = session.until("waiting for a change")
    begins = lines.index("changed: server.py")
    assert played(lines[:begins]) == [FINE] and "conforms: 2 passed" not in lines[:begins]
    assert sorted(played(lines[begins:])) == [FINE, FAULTY] and "conforms: 2 passed" in lines[begins:]
    assert len(runs(tmp_path)) == 1
    assert session.end() == 130


def test_interruption_in_the_middle_of_a_round_leaves_nothing_behind(
    tmp_path: Path, sessions: list[Session]
) -> None:
    sessions.append(session := watched(tmp_path, "silent", "--timeout", "1000"))
    session.until("speaks")
    assert session.end() == 130
    assert list((tmp_path / "results").iterdir()) == []


def test_terminal_is_cleared_and_has_the_result_on_top(tmp_path: Path, sessions: list[Session]) -> None:
    terminal, inner = pty.openpty()
    sessions.append(session := watched(tmp_path, "none", output=inner))
    os.close(inner)
    lines = b""
    while b"waiting for a change" not in lines:
        lines += os.read(terminal, 65536)
    screen = lines.decode().rpartition("\033[2J\033[3J\033[H")[2]
    assert "conforms: 2 passed" in screen.splitlines()[0]
    assert session.end() == 130
    os.close(terminal)


def test_server_that_somebody_else_starts_is_looked_for(tmp_path: Path, sessions: list[Session]) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    sessions.append(session := Session(tmp_path, "--url", url, "--scenario", "jsonrpc-unknown-method"))
    assert "Connection refused" in "\n".join(session.until("waiting for a change"))
    serve = (warm_python(), "-m", "assay", "serve", "everything", "--transport", "http", "--port", str(port))
    with subprocess.Popen(serve, stdout=subprocess.DEVNULL) as server:
        try:
            assert "conforms: 5 passed" in session.until("waiting for a change")
        finally:
            server.terminate()
    assert session.end() == 130


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--watch", "missing"), "nothing to watch at missing"),
        (("--watch", ".", "--format", "papyrus"), "unknown format"),
        (("--watch", ".", "--scenario", "no-such*"), "no such scenario"),
        (("--watch", ".", "--record-golden", "golden"), "a golden run is one run"),
        (("--watch", ".", "--suite", "fuzz"), "--suite fuzz has none"),
    ],
)
def test_mistakes_end_it_before_it_begins(
    options: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["server", "everything", *options]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
