"""Results on standard output, whoever reads them."""

import io
import os
import subprocess
import sys

import pytest

from assay.cli.output.stream import emit, paint

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
