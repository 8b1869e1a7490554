"""`--oauth`: a user authorizes the command once, and the stored token serves the next one."""

from __future__ import annotations

import asyncio
import os
import stat
import webbrowser
from pathlib import Path

import pytest

from assay.cli.calls.authorization import ask_user, token_directory
from assay.cli.exit_code import ExitCode
from assay.cli.main import main
from assay.model.client_error import AuthorizationFailed
from tests.cli.calls.calculator import in_thread
from tests.cli.calls.test_question import typing
from tests.client.auth.test_browser import browse
from tests.client.auth.world import protected

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", browse)


def test_a_token_is_obtained_once_and_stored_for_its_owner_only(capsys: Output) -> None:
    with in_thread(protected) as world:
        assert main(["call", world.url, "greet", "--oauth"]) == 0
        assert main(["tools", world.url, "--oauth"]) == 0
        assert len(world.at("/authorize")) == 1
    assert capsys.readouterr().out.startswith("hello ")
    [file] = token_directory().iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_server_that_wants_a_token_says_so_without_the_option(capsys: Output) -> None:
    with in_thread(protected) as world:
        assert main(["tools", world.url]) == ExitCode.NOT_STARTED
        assert "HTTP status 401" in capsys.readouterr().err
        assert main(["doctor", world.url]) == 1
        out = capsys.readouterr().out
        assert "failed     auth: the server wants credentials" in out and "--oauth" in out
        assert main(["doctor", world.url, "--oauth"]) == 0
        assert "ok         list: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--oauth", "--token", "x"], "both --oauth and --token"),
        (["--scope", "x"], "--scope is for --oauth"),
        (["--client-id", "x"], "--client-id is for --oauth"),
        (["--no-browser"], "--no-browser is for --oauth"),
        (["--oauth", "--scope", 'a"b'], "not a scope"),
        (["--oauth", "--header", "Authorization: x"], "Authorization"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], problem: str, capsys: Output) -> None:
    assert main(["tools", "http://127.0.0.1:1/mcp", *options]) == ExitCode.USAGE
    assert problem in capsys.readouterr().err


def test_oauth_is_for_a_url(capsys: Output) -> None:
    assert main(["tools", "--oauth", "--", "python"]) == ExitCode.USAGE
    assert "--oauth is for a server at a URL" in capsys.readouterr().err


def test_without_a_browser_the_user_pastes_the_address(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    with typing("http://127.0.0.1/callback?code=1\n", monkeypatch):
        assert asyncio.run(ask_user("https://as.example/authorize")) == "http://127.0.0.1/callback?code=1"
    assert "  https://as.example/authorize\n" in capsys.readouterr().err
    with typing("\x04", monkeypatch), pytest.raises(AuthorizationFailed, match="cancelled"):
        asyncio.run(ask_user("https://as.example/authorize"))
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        with pytest.raises(AuthorizationFailed, match="needs a terminal"):
            asyncio.run(ask_user("https://as.example/authorize"))
