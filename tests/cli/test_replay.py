"""`assay replay`: record, run, be either side, and the exit code of each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assay.cli.main import main
from tests.lab.matrix.tiny import PROGRAMS

PLAIN = [sys.executable, "-I", "-S", str(PROGRAMS / "server.py")]
DATE = "2025-06-18"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("replay") / "bundle"
    words = [
        "replay",
        "record",
        "--out",
        str(out),
        "--spec-version",
        DATE,
        "--allow-effects",
        "--random-seed",
        "a",
    ]
    assert main([*words, "--env", "ASSAY_TEST_UNSET", "--", *PLAIN]) == 0
    return out


def test_the_same_server_gives_the_same_answers(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "run", str(bundle), "--", *PLAIN]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("same as recorded: ")
    assert last.endswith("(100.0 %)")


def test_a_divergence_is_shown_with_its_place_and_values(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "run", str(bundle), "--", *PLAIN, "--fault", "shape"]) == 1
    output = capsys.readouterr().out
    assert f"DIFFERS stdio {DATE}: tools/list" in output
    assert "/result/tools" in output
    assert main(["replay", "run", str(bundle), "--format", "json", "--", *PLAIN, "--fault", "shape"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["matched"] == report["pairs"] - 1
    (divergence,) = report["conversations"][0]["divergences"]
    assert divergence["difference"]["after"] == '"none"'


def test_values_can_be_ignored(bundle: Path) -> None:
    ignored = ["--ignore", "/result/tools"]
    assert (
        main(["replay", "run", str(bundle), *ignored, "--", *PLAIN, "--fault", "shape"]) == 1
    )  # another type
    assert main(["replay", "run", str(bundle), "--ignore", "result", "--", *PLAIN]) == 2


def test_a_changed_variable_is_noted(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_TEST_UNSET", "set")
    assert main(["replay", "run", str(bundle), "--", *PLAIN]) == 0
    assert "ASSAY_TEST_UNSET has another value" in capsys.readouterr().out


def test_a_server_that_does_not_start(bundle: Path) -> None:
    assert main(["replay", "run", str(bundle), "--", *PLAIN, "--fault", "exit"]) == 4
    assert main(["replay", "run", str(bundle), "--", "assay-no-such-program"]) == 4


def test_the_recorded_client(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "run", str(bundle), "--as-client", "--", *PLAIN, "--fault", "error"]) == 0
    output = capsys.readouterr().out
    assert "tools/call: error -32603: broken" in output
    assert "requests answered" in output.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "{bundle}"],
        ["run", "{bundle}", "--as-client"],
        ["run", "{bundle}", "--as-server", "--as-client"],
        ["run", "{bundle}", "--as-server", "reference"],
        ["run", "{bundle}", "--as-server", "--transport", "ws"],
        ["run", "{bundle}", "--spec-version", "1999-01-01", "reference"],
        ["run", "/nowhere", "reference"],
        ["record", "reference"],
        ["record", "reference", "--out", "x", "--clock", "noon"],
        ["record", "reference", "--out", "x", "--requests", "/nowhere"],
        ["play"],
        [],
    ],
)
def test_wrong_usage(words: list[str], bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", *(word.format(bundle=bundle) for word in words)]) == 2
    assert capsys.readouterr().err.startswith("assay: error: ")


def test_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--help"]) == 0
    assert "exit codes:" in capsys.readouterr().out
