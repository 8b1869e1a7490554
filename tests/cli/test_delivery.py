"""A report goes where it was sent; a page is not poured onto a terminal."""

import io
import sys
from pathlib import Path

import pytest

from assay.cli.exit_code import CommandFailed
from assay.cli.output.delivery import deliver

Output = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_report_goes_to_standard_output(tmp_path: Path, capsys: Output) -> None:
    deliver("<html>", "html", beside=tmp_path)
    assert capsys.readouterr().out == "<html>"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["html", "text"])
def test_report_goes_to_the_file_that_is_named(form: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "mine"
    deliver("words", form, output=path, beside=tmp_path)
    assert path.read_text("utf-8") == "words"
    assert capsys.readouterr() == ("", f"written: {path}\n")


def test_page_goes_beside_the_run_where_standard_output_is_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    deliver("<html>", "html", beside=tmp_path)
    deliver("words", "text", beside=tmp_path)
    assert terminal.getvalue() == "words"
    assert (tmp_path / "report.html").read_text("utf-8") == "<html>"
    assert capsys.readouterr().err == f"written: {tmp_path / 'report.html'}\n"


def test_file_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"cannot write .*: No such file or directory"):
        deliver("words", "text", output=tmp_path / "no" / "such" / "file", beside=tmp_path)
