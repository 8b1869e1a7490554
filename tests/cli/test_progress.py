"""What is shown while a run goes on: lines where nobody looks, a bar where somebody does."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.output.progress import lines_of, progress
from assay.lab.harness.run.event import CellFinished, CellsPlanned, RunFinished, SubjectKnown
from assay.lab.harness.run.run import SubjectRecord
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.verdict import Outcome, Verdict
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python
from tests.lab.runs import REVISION, cell, run_of

SUBJECT = Path(__file__).parent / "subjects" / "subject.py"
COLOUR = re.compile(r"\x1b\[[\d;]*3[0-7][\d;]*m")
PASSED = cell("a.b", ("c.d", Verdict.SUCCESS))
FAILED = cell("e.f", ("c.d", Verdict.FAILURE))
ABSENT = cell("e.f", outcome=Outcome.NOT_APPLICABLE)


def test_elsewhere_a_scenario_is_a_line_as_soon_as_it_is_known() -> None:
    stream = io.StringIO()
    with progress(stream) as watch:
        watch(SubjectKnown(SubjectRecord("server.py", "stdio", [Facts(REVISION)])))
        watch(CellsPlanned(4))
        for result in (PASSED, PASSED, FAILED):
            watch(CellFinished(result))
        assert stream.getvalue().splitlines() == [
            f"stdio: server.py speaks {REVISION}",
            f"ok         a.b (stdio {REVISION}, stdio {REVISION})",
        ]
        watch(CellFinished(ABSENT))
        watch(RunFinished(run_of()))
    assert stream.getvalue().splitlines()[2:] == [
        f"FAILED     e.f (stdio {REVISION})",
        f"n/a        e.f (stdio {REVISION}): a reason",
    ]


def test_many_places_are_counted_by_transport() -> None:
    (line,) = lines_of([PASSED] * 3)
    assert line == "ok         a.b (stdio 3)"


def test_on_a_terminal_a_client_is_waited_for(tmp_path: Path) -> None:
    line = [warm_python(), "-m", "assay", "client", "--command", f"{warm_python()} -c 0", "--suite", "core"]
    line += ["--spec-version", HANDSHAKE[-1].date, "--scenario", "tools_call"]
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    screen = on_terminal(line, tmp_path, environment, code=3)
    assert "waiting for the client" in screen and "1/1" in screen
    assert f"incomplete tools_call (http {HANDSHAKE[-1].date}): the client never connected" in screen


@pytest.mark.parametrize("plain", [True, False])
def test_on_a_terminal_there_is_a_bar_and_colour_unless_it_is_unwanted(tmp_path: Path, plain: bool) -> None:
    line = [warm_python(), "-m", "assay", "server", "--command", f"{warm_python()} {SUBJECT} wrong-code"]
    line += ["--spec-version", HANDSHAKE[-1].date, "--scenario", "jsonrpc-unknown-method"]
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("NO_COLOR", None)
    if plain:
        environment["NO_COLOR"] = "1"
    screen = on_terminal(line, tmp_path, environment)
    assert "1/1" in screen and "━" in screen
    assert "FAILED     jsonrpc.unknown-method" in screen
    assert "does not conform: 1 failed" in screen
    assert bool(COLOUR.search(screen)) is not plain


def on_terminal(line: list[str], directory: Path, environment: dict[str, str], code: int = 1) -> str:
    """All that a command writes when both its streams are a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(line, stdout=theirs, stderr=theirs, cwd=directory, env=environment) as process:
        os.close(theirs)
        screen = b""
        try:
            while data := os.read(ours, 65536):
                screen += data
        except OSError:
            pass  # how the other end of a terminal closes
        finally:
            os.close(ours)
    assert process.returncode == code
    return screen.decode()
