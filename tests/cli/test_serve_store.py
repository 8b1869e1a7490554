"""`assay serve --store`: which store is used, and how each failure ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.cli.exit_code import ExitCode
from assay.cli.main import main

Output = pytest.CaptureFixture[str]
SERVER = 'from assay import Server\nserver = Server("notes", store="sqlite:///of-the-server.db")\n'
HTTP = ("--transport", "http", "--port", "0")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_STORE", raising=False)
    (tmp_path / "notes.py").write_text(SERVER, "utf-8")


def failure(output: Output, *words: str) -> tuple[int, str]:
    code = main(["serve", "notes.py", *words])
    return code, output.readouterr().err


def test_wrong_url_is_a_usage_error_that_names_the_option(capsys: Output) -> None:
    code, text = failure(capsys, "--store", "state.db", *HTTP)
    assert code == ExitCode.USAGE
    assert text.startswith(
        "assay: error: --store: not the URL of a store: 'state.db'\n  write sqlite:///FILE"
    )


def test_wrong_url_in_the_environment_is_named(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_STORE", "mysql://host")
    code, text = failure(capsys, *HTTP)
    assert code == ExitCode.USAGE and "ASSAY_STORE: not the URL of a store" in text


@pytest.mark.parametrize("transport", [HTTP, ()], ids=["http", "stdio"])
def test_store_that_cannot_be_used_ends_the_command_with_one_line(
    transport: tuple[str, ...], capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = failure(capsys, "--store", "sqlite:///none/state.db", *transport)
    assert code == ExitCode.NOT_STARTED
    assert text.splitlines()[-1] == (
        "assay: error: store none/state.db cannot be opened: No such file or directory;"
        " name a file in a directory that exists and is writable"
    )


def test_option_goes_before_the_environment_and_the_server(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STORE", "sqlite:///none/of-the-environment.db")
    _, text = failure(capsys, "--store", "sqlite:///none/of-the-option.db", *HTTP)
    assert "none/of-the-option.db" in text
    _, text = failure(capsys, *HTTP)
    assert "none/of-the-environment.db" in text


def test_missing_package_is_named_with_its_extra(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "redis"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)
    code, text = failure(capsys, "--store", "redis://localhost/0", *HTTP)
    assert code == ExitCode.USAGE
    assert 'Redis needs its client: pip install "assay-mcp[redis]"' in text
