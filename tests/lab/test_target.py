"""One rule tells a URL, a Python server and a command apart, and a wrong guess gets the right form."""

from pathlib import Path
from pkgutil import iter_modules

import pytest

import assay.bundled
from assay.lab import Command, InvalidOptions, Served, Url
from assay.lab.target import BUNDLED, Target, parse_command, parse_target


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("server.py", "my.js", "my_package/__init__.py", "everything", "my it's.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "run-me").touch(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_the_bundled_servers_are_those_that_are_bundled() -> None:
    modules = {module.name for module in iter_modules(assay.bundled.__path__)}
    assert {name for name in modules if not name.endswith("_client")} == set(BUNDLED)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("http://localhost:3000/mcp", Url("http://localhost:3000/mcp")),
        ("wss://example.com/mcp?key=a b", Url("wss://example.com/mcp?key=a b")),
        ("server.py", Served("server.py")),
        ("./server.py:other", Served("./server.py:other")),
        ("server.py --profile intelgraph", Served("server.py", ("--profile", "intelgraph"))),
        ("my it's.py", Served("my it's.py")),
        ("./my it's.py:name", Served("./my it's.py:name")),
        ("everything", Served("everything")),
        ("reference --strict", Served("reference", ("--strict",))),
        ("my_package:server", Served("my_package:server")),
        ("my_package.part", Served("my_package.part")),
        ("my_package", Served("my_package")),
        ("run-me", Command(("run-me",))),
        ("./run-me", Command(("./run-me",))),
        ("sh", Command(("sh",))),
        ("python server.py", Command(("python", "server.py"))),
        ("npx -y 'some server' --flag", Command(("npx", "-y", "some server", "--flag"))),
        ("env FOO=1 npx server", Command(("env", "FOO=1", "npx", "server"))),
    ],
)
def test_what_a_text_stands_for(text: str, target: Target) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("localhost:3000/mcp", "its scheme is missing", "write http://localhost:3000/mcp"),
        ("[::1]:3000", "its scheme is missing", "write http://[::1]:3000"),
        ("example.com/mcp", "is not a URL", "write http://example.com/mcp"),
        ("missing.py", "no such file: missing.py", "Python file"),
        ("missing.py:server", "no such file: missing.py", "Python file"),
        ("my.js", "is not a Python file", "-- node my.js"),
        ("my_package/", "is a directory", "command after --"),
        ("everthing", "no module or program is named everthing", "did you mean everything?"),
        ("no_such.module:server", "no module or program is named no_such", "write a URL"),
        ("no-such-program", "is not a URL, a file or a program", "a command after --"),
        ("FOO=1 npx server", "begins with an assignment, FOO=1", "write: env FOO=1 npx server"),
        ("'open", "cannot read the command", "close the quote"),
        (" ", "the command is empty", "a program"),
    ],
)
def test_a_wrong_guess_names_the_right_form(text: str, problem: str, fix: str) -> None:
    with pytest.raises(InvalidOptions) as failure:
        parse_target(text)
    assert problem in failure.value.problem
    assert fix in failure.value.fix


def test_no_module_is_imported_to_find_out(project: Path) -> None:
    (project / "my_package" / "__init__.py").write_text("raise SystemExit('imported')")
    assert parse_target("my_package.part:server") == Served("my_package.part:server")


def test_a_word_that_only_looks_like_an_assignment_is_a_program() -> None:
    assert parse_command("1=2 x") == ("1=2", "x")
