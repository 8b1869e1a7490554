"""`assay matrix`: progress on standard error, the grid on standard output, a page, and an exit code."""

import json
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.matrix.options import DIRECTORY, MatrixOptions
from tests.lab.matrix.tiny import PROGRAMS

TOML = f"""
revisions = ["2025-11-25"]
transports = ["stdio"]

[steps]
tools = {{ do = "list_tools" }}

[clients.plain]
stdio = ["{{python}}", "-I", "-S", "{PROGRAMS}/client.py", "plain", "{{server}}"]

[clients.picky]
stdio = ["{{python}}", "-I", "-S", "{PROGRAMS}/client.py", "picky", "{{server}}"]

[servers.sound]
stdio = ["{{python}}", "-I", "-S", "{PROGRAMS}/server.py"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.toml"
    path.write_text(TOML)
    return path


def test_grid_page_and_exit_code(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "out")
    assert main(["matrix", str(file), "--client", "plain", "-o", output]) == 0
    printed = capsys.readouterr()
    assert "1 pairs to run, 0 unchanged" in printed.err
    assert "1/1 ok plain with sound on stdio at 2025-11-25" in printed.err
    assert printed.out.splitlines()[1].split() == ["plain", "stdio", "2025-11-25", "ok"]
    assert main(["matrix", str(file), "-o", output]) == 1
    printed = capsys.readouterr()
    assert "1 pairs to run, 1 unchanged" in printed.err
    assert "faulty (client) picky" in printed.err
    assert "1 ok, 1 faulty" in printed.out
    results = json.loads((tmp_path / "out" / "matrix.json").read_bytes())
    assert [each["status"] for each in results] == ["ok", "faulty"]
    assert (tmp_path / "out" / "index.html").read_text().startswith("<!doctype html>")


def test_mistakes_exit_with_two(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", str(tmp_path / "gone.toml")]) == 2
    assert "give the file of a matrix" in capsys.readouterr().err
    assert main(["matrix", str(file), "--client", "nobody"]) == 2
    assert "clients: plain, picky; servers: sound" in capsys.readouterr().err


def test_results_that_cannot_be_stored_exit_with_three(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("")
    assert main(["matrix", str(file), "--client", "plain", "-o", str(tmp_path / "taken")]) == 3
    assert "name another directory with --output" in capsys.readouterr().err


def test_defaults_of_the_command_are_those_of_the_library() -> None:
    assert MatrixOptions().output == DIRECTORY == Path("results/matrix")
