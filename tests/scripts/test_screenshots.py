"""The pictures of the report: of a run that has something to show."""

from pathlib import Path

import pytest

from assay.lab.harness.run.run import dump_run
from assay.lab.harness.verdict import Verdict
from scripts.screenshots import main, shots
from tests.lab.runs import REVISION, cell, run_of
from tests.meta.tree import ROOT

Output = pytest.CaptureFixture[str]
FAILED = cell("tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE))


def test_a_failure_is_what_is_opened() -> None:
    states = [shot.state for shot in shots(run_of(FAILED))]
    assert f"#run=tools.unknown-name/stdio/{REVISION}&check=tools.unknown-name" in states


def test_every_picture_is_in_the_repository_and_shown_in_a_document() -> None:
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / "docs" / "judge.md"))
    for shot in shots(run_of(FAILED)):
        assert (ROOT / "docs" / "img" / f"{shot.name}.png").is_file()
        assert f"{shot.name}.png" in pages


def test_run_without_findings_is_refused_in_one_line(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "run.json").write_bytes(dump_run(run_of()))
    assert main([str(tmp_path)]) == 2
    assert "has no finding to show" in capsys.readouterr().err


def test_run_must_be_named(capsys: Output) -> None:
    assert main([]) == 2
    assert "make screenshots RUN=" in capsys.readouterr().err
