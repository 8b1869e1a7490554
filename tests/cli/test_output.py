"""Results on standard output, whoever reads them."""

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.output.stream import emit, paint
from assay.revisions.registry import HANDSHAKE

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_lines_that_decide_are_coloured_and_others_are_not() -> None:
    red, plain = paint("FAILURE a.b: title\n  expected  this").split("\n")
    assert red == "\033[31mFAILURE a.b: title\033[0m"
    assert plain == "  expected  this"


def test_what_the_terminal_cannot_show_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    emit("→ a frame\n")
    assert raw.getvalue() == b"\\u2192 a frame\n"


def test_reader_that_leaves_early_is_no_failure() -> None:
    line = [sys.executable, "-m", "assay", "list", "--saboteurs"]
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(line, stdout=writing, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        os.close(writing)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
def test_full_disk_is_told_and_is_not_our_fault() -> None:
    line = [sys.executable, "-m", "assay", "list", "--client"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            line, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=30, check=False
        )
    assert done.returncode == 3
    assert done.stderr.startswith(b"assay: error: cannot write to standard output: No space left on device")


ASSAY = (sys.executable, "-m", "assay")


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["registry", "--help"], ["list"]])
def test_help_ends_quietly_when_the_reader_closes_the_pipe(words: list[str]) -> None:
    with subprocess.Popen([*ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert (process.wait(30), process.stderr.read()) == (0, b"")


def test_progress_that_nobody_reads_does_not_end_a_run(tmp_path: Path) -> None:
    words = ["check", "everything", "--scenario", "ping", "--spec-version", HANDSHAKE[-1].date]
    pipe = subprocess.PIPE
    with subprocess.Popen([*ASSAY, *words], cwd=tmp_path, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stderr.close()
        assert b"conforms: 1 passed" in process.stdout.read()
    assert process.returncode == 0


@pytest.mark.parametrize("closed", ["1", "2"])
def test_closed_streams_do_not_fail(closed: str, tmp_path: Path) -> None:
    line = f"exec {shlex.join((*ASSAY, 'report', '--help'))} {closed}>&-"
    outcome = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert outcome.returncode == 0


def test_help_is_printed_in_any_encoding() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    outcome = subprocess.run([*ASSAY, "check", "--help"], capture_output=True, env=environment, check=False)
    assert (outcome.returncode, outcome.stderr) == (0, b"")
    assert outcome.stdout.isascii()
