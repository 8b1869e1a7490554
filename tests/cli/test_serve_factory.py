"""`assay serve file.py:make_server -- …`: functions that return the server, and their arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.main import main
from assay.cli.options.python_server import load_server

Output = pytest.CaptureFixture[str]
FACTORIES = """
import argparse
import sys
from assay import Server

def bare():
    return Server("bare of " + " ".join(sys.argv[1:]))

def listed(arguments: list[str]) -> Server:
    return Server("listed " + " ".join(arguments))

def optional(arguments=("default",)):
    return Server("optional " + " ".join(arguments))

async def later(arguments):
    return Server("later " + " ".join(arguments))

def parsing():
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", required=True)
    return Server("parsed " + parser.parse_args().db)

def two(a, b):
    return Server("two")

def nothing():
    print("working")

def failing():
    raise ValueError("no such database")

class Own(Server):
    pass

number = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    Path("factories.py").write_text(FACTORIES, "utf-8")
    yield
    sys.modules.pop("factories", None)


@pytest.mark.parametrize(
    ("name", "arguments", "served"),
    [
        ("bare", None, "bare of "),
        ("bare", ["--db", "x"], "bare of --db x"),
        ("listed", None, "listed "),
        ("listed", ["--db", "x"], "listed --db x"),
        ("optional", None, "optional default"),
        ("optional", ["--db", "x"], "optional --db x"),
        ("later", ["--db", "x"], "later --db x"),
        ("parsing", ["--db", "x"], "parsed x"),
    ],
)
def test_a_function_makes_the_server(name: str, arguments: list[str] | None, served: str) -> None:
    assert load_server(f"factories.py:{name}", arguments).info.name == served


def test_arguments_reach_a_module_that_makes_its_server_at_once() -> None:
    Path("factories.py").write_text(
        "import sys\nfrom assay import Server\nserver = Server(sys.argv[1])\n", "utf-8"
    )
    assert load_server("factories.py", ["--db"]).info.name == "--db"


@pytest.mark.parametrize(
    ("name", "code", "problem", "hint"),
    [
        ("two", ExitCode.USAGE, "two(a, b) cannot be called", "def two(arguments: list[str]) -> Server"),
        ("nothing", ExitCode.NOT_STARTED, "nothing returned NoneType, not a Server", "return server"),
        ("failing", ExitCode.NOT_STARTED, "failing failed: ValueError: no such database (", "--traceback"),
        ("parsing", ExitCode.NOT_STARTED, "parsing failed: SystemExit: 2", "--traceback"),
        ("Own", ExitCode.USAGE, "Own is a class, not a Server", "name a function"),
        ("number", ExitCode.USAGE, "number is not a Server in factories.py", "make_server"),
    ],
)
def test_a_function_that_makes_none_is_named(name: str, code: ExitCode, problem: str, hint: str) -> None:
    with pytest.raises(CommandFailed) as failed:
        load_server(f"factories.py:{name}")
    assert (failed.value.code, problem in failed.value.problem) == (code, True)
    assert hint in (failed.value.fix or "")


def test_what_a_function_prints_is_not_on_standard_output(capsys: Output) -> None:
    with pytest.raises(CommandFailed):
        load_server("factories.py:nothing")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "working\n")


def test_the_help_of_a_function_ends_the_command_quietly(capsys: Output) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "factories.py:parsing", "--", "--help"])
    assert ended.value.code == 0
    assert "--db" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["everything", "reference"])
def test_a_bundled_server_takes_no_arguments(capsys: Output, target: str) -> None:
    assert main(["serve", target, "--", "x"]) == ExitCode.USAGE
    assert f"the bundled server `{target}` takes no arguments after `--`" in capsys.readouterr().err


def test_the_command_line_passes_what_follows_the_dashes(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.cli.serve.run", lambda server, transport: print(server.info.name, transport))
    assert main(["serve", "factories.py:listed", "--", "--db", "x", "--transport", "http"]) == ExitCode.OK
    assert capsys.readouterr().out == "listed --db x --transport http stdio\n"


def test_an_option_of_the_server_before_the_dashes_says_where_it_goes(capsys: Output) -> None:
    assert main(["serve", "factories.py:listed", "--db", "x"]) == ExitCode.USAGE
    assert "go after `--`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("streamable-http", 'Streamable HTTP is "http" here'),
        ("sse", 'use "http"'),
        ("websocket", '"ws" here'),
    ],
)
def test_a_transport_by_another_name_is_answered_with_ours(capsys: Output, name: str, hint: str) -> None:
    assert main(["serve", "factories.py:bare", "--transport", name]) == ExitCode.USAGE
    line = capsys.readouterr().err.splitlines()[0]
    assert (name in line, hint in line) == (True, True)


def test_the_revisions_can_be_narrowed(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.cli.serve.run", lambda server, transport: print(*server.revisions))
    versions = ["--spec-version", "2025-11-25", "--spec-version", "2025-06-18"]
    assert main(["serve", "factories.py:bare", *versions]) == ExitCode.OK
    assert capsys.readouterr().out == "2025-06-18 2025-11-25\n"


@pytest.mark.parametrize("version", ["2025-06-19", "latest", ""])
def test_an_unknown_revision_is_answered_with_the_known_ones(capsys: Output, version: str) -> None:
    assert main(["serve", "factories.py:bare", "--spec-version", version]) == ExitCode.USAGE
    problem, hint = capsys.readouterr().err.splitlines()
    assert problem == f"assay: error: --spec-version: unknown revision: {version!r}"
    assert hint.startswith("  choose from 2024-11-05, ")
