"""`assay server --suite fuzz`: what it says, keeps and ends with."""

import shlex
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.fuzz.case import Case, Step, dump_case
from assay.lab.harness.run.run import parse_run
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

FAULTY = Path(__file__).parents[1] / "lab" / "fuzz" / "faulty.py"
CRASH = dump_case(Case((Step(b'"\\ud800"'),)))
"""Half of a surrogate pair, in place of a message."""
NEWEST = HANDSHAKE[-1].date


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fuzz(fault: str, *options: str) -> int:
    command = shlex.join((warm_python(), str(FAULTY), fault))
    return main(["server", "--command", command, "--suite", "fuzz", "--spec-version", NEWEST, *options])


def test_a_case_that_shows_something_does_so_again_and_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz("surrogate", "--case", CRASH, "--export", "test_finding.py") == 1
    out, err = capsys.readouterr()
    assert "FAILURE fuzz.alive" in out
    assert f"--suite fuzz --case {CRASH}" in out
    assert "exported: test_finding.py" in err
    assert "def test_fuzz_alive_1() -> None:" in (tmp_path / "test_finding.py").read_text("utf-8")
    (stored,) = tmp_path.glob("results/run-*/run.json")
    (cell,) = parse_run(stored.read_bytes()).cells
    assert (stored.parent / cell.trace).exists()


def test_a_server_that_stands_it_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("", "--seconds", "1", "--seed", "7", "--export", "test_finding.py") == 0
    out, err = capsys.readouterr()
    assert "conforms: 1 passed" in out
    assert "seed 7" in err
    assert "no findings, so test_finding.py was not written" in err


def test_what_is_no_case_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("", "--case", "nonsense") == 2
    assert "not a case: nonsense" in capsys.readouterr().err


def test_a_server_that_is_not_there_is_not_fuzzed() -> None:
    assert main(["server", "--command", "no-such-command-of-the-lab", "--suite", "fuzz"]) == 4


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--scenario", "tools-*"),
        ("--jobs", "2"),
        ("--repeat", "1"),
        ("--bearer-other", "token"),
        ("--audience", "http://localhost/mcp"),
    ],
)
def test_options_of_other_suites_are_refused(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz("", option, value) == 2
    assert f"{option} is not for --suite fuzz" in capsys.readouterr().err
