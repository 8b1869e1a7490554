"""`--deadline`: a run without time left is incomplete, and keeps what it has."""

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import parse_run
from tests.driving.warm_python import warm_python

AT_ONCE = ["--deadline", "0.001"]
SILENT = "import sys\nfor line in sys.stdin: pass\n"
PROBLEM = "the deadline of the run passed, 0.001 s: a longer one is set with --deadline"


@pytest.fixture
def silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("silent.py").write_text(SILENT)
    return [warm_python(), "silent.py"]


def test_run_of_a_server_is_stored_and_exits_with_three(
    silent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *AT_ONCE, "--", *silent]) == 3
    assert f"incomplete: {PROBLEM}" in capsys.readouterr().out
    (path,) = Path("results").glob("run-*/run.json")
    assert parse_run(path.read_bytes()).expired


def test_run_of_a_client_is_stored_and_exits_with_three(
    silent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["client", *AT_ONCE, "--scenario", "initialize", "--once", "--", *silent]) == 3
    assert PROBLEM in capsys.readouterr().out


def test_baseline_is_not_stale_where_the_run_did_not_get_to(
    silent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("baseline.yaml").write_text("server: [lifecycle.ping]\n")
    assert main(["check", *AT_ONCE, "--baseline", "baseline.yaml", "--", *silent]) == 3
    assert "stale" not in capsys.readouterr().out


def test_certification_writes_nothing(silent: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", *AT_ONCE, "--out", "evidence", "--", *silent]) == 3
    assert "the deadline passed, 0.001 s: nothing was written" in capsys.readouterr().err
    assert not Path("evidence").exists()
