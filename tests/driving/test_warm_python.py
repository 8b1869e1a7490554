"""The warm Python behaves like Python: streams, exit codes, signals, main modules."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.driving.warm_python import warm_python

PROGRAMS = {
    "output": "print('out'); import sys; print('err', file=sys.stderr)",
    "input": "import sys; print(sys.stdin.read().upper())",
    "status": "import sys; sys.exit(3)",
    "message": "import sys; sys.exit('no such file')",
    "arguments": "import sys; print(sys.argv)",
    "names": "print(__name__); import os; print(os.getcwd(), os.environ['COLOUR'])",
    "exit functions": "import atexit; atexit.register(print, 'bye')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
}
WAITS = "import sys; print('ready', flush=True); sys.stdin.read()"


def run(python: str, directory: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [python, *arguments],
        input="some text",
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, "COLOUR": "blue"},
        timeout=20,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_as_in_the_real_interpreter(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name], "utf-8")
    for arguments in (("-c", PROGRAMS[name], "a", "b"), (str(path), "a", "b")):
        assert run(warm_python(), tmp_path, *arguments) == run(sys.executable, tmp_path, *arguments)


def test_an_exception_ends_with_a_traceback_and_status_1(tmp_path: Path) -> None:
    code, out, err = run(warm_python(), tmp_path, "-c", "1 / 0")
    assert (code, out) == (1, "")
    assert err.endswith("ZeroDivisionError: division by zero\n")


def test_a_module_runs_as_main(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("print(__name__)", "utf-8")
    assert run(warm_python(), tmp_path, "-m", "beside") == (0, "__main__\n", "")


def test_assay_is_imported_before_the_program_runs(tmp_path: Path) -> None:
    program = (
        "import sys, json; print(json.dumps([name in sys.modules for name in ('assay.cli.main', 'fast')]))"
    )
    assert json.loads(run(warm_python(), tmp_path, "-c", program)[1]) == [True, False]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_the_command_and_its_child(number: signal.Signals) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([warm_python(), "-c", WAITS], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        # The output ends when nobody can write to it, neither the command nor its child.
        assert process.stdout.read() == b""
        assert process.wait() == -number


def test_unknown_options_go_to_the_real_interpreter(tmp_path: Path) -> None:
    assert run(warm_python(), tmp_path, "-V") == run(sys.executable, tmp_path, "-V")


def test_the_streams_of_a_command_that_was_killed_while_it_started_are_closed() -> None:
    reader, writer = os.pipe()
    with socket.socket(socket.AF_UNIX) as command:
        command.connect(str(Path(warm_python()).with_name("socket")))
        socket.send_fds(
            command, [(100).to_bytes(4, "big")], [writer] * 3
        )  # the order of 100 bytes is missing
        os.close(writer)
    assert os.read(reader, 1) == b""
    os.close(reader)
