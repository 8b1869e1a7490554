"""Each step to a server that is a command, failing in a real process."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assay import Stdio
from assay.client.doctor import Diagnosis, diagnose
from tests.client.everything import python
from tests.client.scripted import process

pytestmark = pytest.mark.waits


def step(diagnosis: Diagnosis, name: str) -> tuple[str, str, str]:
    chosen = [step for step in diagnosis.steps if step.name == name]
    assert chosen, f"no step {name}: {diagnosis.steps}"
    return chosen[0].status.value, chosen[0].detail, chosen[0].fix


LISTING = "for message in messages(): answer(message, {'tools': []})\n"


async def test_a_good_server_passes_every_step() -> None:
    diagnosis = await diagnose(process(LISTING))
    assert diagnosis.ok
    assert [step.name for step in diagnosis.steps] == [
        "command", "start", "first line", "output", "protocol", "list", "exit",
    ]  # fmt: skip


def file(folder: Path, text: str, mode: int) -> str:
    path = folder / "server"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    ("word", "detail", "fix"),
    [
        ("no-such-program", "is in no directory of PATH", "install no-such-program"),
        ("./missing", "does not exist", "check the path"),
        ("./folder", "is a directory", "name the program in it"),
        ("./server", "is not executable", "chmod +x ./server"),
    ],
)
async def test_a_command_that_is_not_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, detail: str, fix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file(tmp_path, "", stat.S_IRUSR)
    os.mkdir("folder")
    diagnosis = await diagnose(Stdio(word))
    measured = step(diagnosis, "command")
    assert len(diagnosis.steps) == 1
    assert measured[0] == "failed" and detail in measured[1] and fix in measured[2]


@pytest.mark.parametrize(
    ("text", "fix"),
    [("import sys\n", "#!/usr/bin/env python3"), ("#!/no/such/python\n", "interpreter in its first line")],
)
async def test_a_script_that_the_system_cannot_start(tmp_path: Path, text: str, fix: str) -> None:
    diagnosis = await diagnose(Stdio(file(tmp_path, text, 0o755)))
    measured = step(diagnosis, "start")
    assert len(diagnosis.steps) == 2
    assert measured[0] == "failed" and "it cannot be started" in measured[1] and fix in measured[2]


async def test_a_process_that_ends_at_once() -> None:
    diagnosis = await diagnose(python("-c", "import sys; sys.exit('no key \\x1b[31mset')"))
    status, detail, fix = step(diagnosis, "start")
    assert (status, detail) == ("failed", "it ended with exit code 1\n  stderr: no key ␛[31mset")
    assert "by hand" in fix
    assert step(diagnosis, "first line")[0] == step(diagnosis, "exit")[0] == "skipped"
    assert all(step.name != "protocol" for step in diagnosis.steps)


async def test_a_process_that_says_nothing() -> None:
    diagnosis = await diagnose(python("-c", "import sys; sys.stdin.read()"), timeout=0.5)
    status, detail, fix = step(diagnosis, "first line")
    assert status == "failed" and "nothing on standard output in 0.5 s" in detail and "flush" in fix
    assert step(diagnosis, "protocol")[0] == "failed"


async def test_a_banner_on_standard_output() -> None:
    diagnosis = await diagnose(process(f"print('Welcome!', flush=True)\n{LISTING}"))
    status, detail, fix = step(diagnosis, "first line")
    assert (status, detail) == ("failed", "not a message: Welcome!")
    assert "standard error" in fix
    assert step(diagnosis, "protocol")[0] == step(diagnosis, "list")[0] == "ok"


NOISY = """
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
        print("debug: here", flush=True)
        answer(message, initialized if message["method"] == "initialize" else discovery)
"""


async def test_stray_lines_between_messages() -> None:
    diagnosis = await diagnose(process(NOISY))
    assert step(diagnosis, "first line")[0] == "ok"
    status, detail, _ = step(diagnosis, "output")
    assert status == "failed" and "such as: debug: here" in detail


@pytest.mark.parametrize(
    ("ending", "status", "detail", "fix"),
    [
        ("sys.exit(3)", "warning", "exit code 3 after the end of its input", "return"),
        ("signal.pause()", "failed", "it still runs", "end the server when its standard input ends"),
    ],
)
async def test_a_server_that_does_not_end_well(
    ending: str, status: str, detail: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.client.doctor.process.EXIT_SECONDS", 0.5 if status == "failed" else 10)
    diagnosis = await diagnose(process(f"{LISTING}{ending}\n"))
    measured = step(diagnosis, "exit")
    assert measured[0] == status and detail in measured[1] and fix in measured[2]


async def test_an_endless_line_ends_the_watch() -> None:
    script = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    diagnosis = await diagnose(python("-c", script), timeout=1)
    assert not diagnosis.ok
    assert step(diagnosis, "first line")[1] == "not a message: a line of more than 1048576 bytes"


def test_a_command_needs_no_package_for_http() -> None:
    code = "import sys; sys.modules['httptools'] = None; import assay.client.doctor"
    subprocess.run([sys.executable, "-c", code], check=True)
