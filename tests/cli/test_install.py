"""`assay install` and `assay discover`: servers in the settings of applications."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assay.cli.main import main

Output = pytest.CaptureFixture[str]
SOURCE = """\
from assay import Server

server = Server("x")


@server.tool
def add(a: int) -> int:
    return a
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "server.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


def test_a_python_file_is_served_from_any_directory(home: Path, capsys: Output) -> None:
    assert main(["install", "cursor", "server.py:server", "--env", "KEY=a=b"]) == 0
    path = home / ".cursor" / "mcp.json"
    assert capsys.readouterr().out.splitlines()[0] == f"added project in {path}"
    command = ["-m", "assay", "serve", f"{home}/project/server.py:server"]
    entry = {"command": sys.executable, "args": command, "env": {"KEY": "a=b"}}
    assert json.loads(path.read_text()) == {"mcpServers": {"project": entry}}
    assert main(["install", "cursor", "server.py:server", "--env", "KEY=a=b"]) == 0
    assert capsys.readouterr().out == f"project is already in {path}\n"


def test_a_command_and_a_url_are_named_after_themselves(home: Path) -> None:
    assert main(["install", "vscode", "--project", "--", "npx", "-y", "some-server"]) == 0
    assert main(["install", "vscode", "https://example.com:8/mcp", "--project", "--header", "X: y"]) == 0
    servers = json.loads((home / "project" / ".vscode" / "mcp.json").read_text())["servers"]
    assert servers == {
        "some-server": {"type": "stdio", "command": "npx", "args": ["-y", "some-server"]},
        "example.com": {"type": "http", "url": "https://example.com:8/mcp", "headers": {"X": "y"}},
    }


@pytest.mark.parametrize(
    ("words", "file"), [(["json"], ""), (["zed", "--print"], ".config/zed/settings.json")]
)
def test_printing_writes_nothing(words: list[str], file: str, home: Path, capsys: Output) -> None:
    assert main(["install", words[0], "everything", *words[1:]]) == 0
    *first, document = capsys.readouterr().out.split("{", 1)
    assert first == ([f"{home}/{file}\n"] if file else [""])
    assert '"everything"' in document
    assert [path.name for path in home.iterdir()] == ["project"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "for which application?\n  known are claude-desktop, claude-code"),
        (["emacs", "server.py"], "unknown host: emacs"),
        (["cursor"], "no server to install"),
        (["cursor", "server.py", "more"], "TARGET is one word, and these are 2"),
        (["cursor", "server.py", "--", "npx"], "unexpected argument: server.py"),
        (["cursor", "missing.py"], "no such file: missing.py"),
        (["cursor", "server.py", "--name", "a b"], "not a name for a server: 'a b'"),
        (["cursor", "server.py", "--env", "KEY"], "--env must be NAME=VALUE: 'KEY'"),
        (["cursor", "server.py", "--env", "KEY=a\nb"], "--env must be NAME=VALUE: 'KEY'"),
        (["cursor", "server.py", "--header", "A: b"], "--header is for a URL"),
        (["cursor", "http://x/mcp", "--env", "A=b"], "--env is for commands"),
        (["cursor", "http://x/mcp", "--header", "A"], "--header must be 'Name: value': 'A'"),
        (["windsurf", "server.py", "--project"], "Windsurf has no settings of projects"),
    ],
)
def test_a_mistake_is_named_with_its_fix(words: list[str], problem: str, home: Path, capsys: Output) -> None:
    assert main(["install", *words]) == 2
    assert capsys.readouterr().err.startswith(f"assay: error: {problem}")
    assert [path.name for path in home.iterdir()] == ["project"]


def test_a_broken_file_stays(home: Path, capsys: Output) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{,}")
    assert main(["install", "cursor", "server.py"]) == 2
    assert "is not valid JSON: line 1: " in capsys.readouterr().err
    assert (home / ".cursor" / "mcp.json").read_text() == "{,}"


def test_discovery_shows_what_is_configured_without_starting_it(home: Path, capsys: Output) -> None:
    assert main(["discover"]) == 0
    assert "no servers are configured" in capsys.readouterr().out
    assert (
        main(["install", "zed", "--name", "a", "--", "touch", str(home / "started"), "--token", "s3cret"])
        == 0
    )
    assert main(["install", "cursor", "server.py", "--project"]) == 0
    capsys.readouterr()
    assert main(["discover"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "cursor: .cursor/mcp.json",
        f"  project: {sys.executable} -m assay serve {home}/project/server.py",
        f"zed: {home}/.config/zed/settings.json",
        f"  a: touch {home}/started --token •••",
    ]
    assert main(["discover", "--host", "zed", "--json"]) == 0
    (server,) = json.loads(capsys.readouterr().out)["servers"]
    assert (server["host"], server["name"], server["server"]) == (
        "zed",
        "a",
        f"touch {home}/started --token •••",
    )
    assert not (home / "started").exists()


def test_discovery_starts_servers_on_request_and_says_which_do_not_answer(home: Path, capsys: Output) -> None:
    assert main(["install", "cursor", "server.py"]) == 0
    assert (
        main(["install", "cursor", "--name", "broken", "--", sys.executable, "-c", "exit(3)", "s3cret-1"])
        == 0
    )
    assert main(["install", "cursor", "--name", "closed", "http://127.0.0.1:1/mcp"]) == 0
    capsys.readouterr()
    assert main(["discover", "--start"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("    ok: 1 tool, revision 2")
    assert "exit code 3" in lines[4]
    assert lines[6].startswith("    no: ")


def test_a_bad_file_is_listed_and_fails(home: Path, capsys: Output) -> None:
    (home / ".claude.json").write_text('{"mcpServers": {"a": {}, "b": {"command": "x"}}}')
    assert main(["discover"]) == 1
    out = capsys.readouterr().out
    assert "  a: not valid: the entry has neither a command nor a URL\n  b: x\n" in out
    assert main(["discover", "--host", "none"]) == 2
