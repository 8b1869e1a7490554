"""`assay check`, in every form that people guess, and the runs that later commands find by themselves."""

import shlex
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import parse_run
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

pytestmark = pytest.mark.usefixtures("warm_servers")

SERVER = "from assay import Server\nserver = Server('notes', '1.0')\nother = Server('other', '1.0')\n"
QUICK = ("--scenario", "ping", "--spec-version", HANDSHAKE[-1].date)
VISITOR = Path(__file__).parent / "subjects" / "visitor.py"
Output = pytest.CaptureFixture[str]
COMMAND = (warm_python(), "-m", "assay", "serve", "server.py:server")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER, "utf-8")


def subject() -> str:
    """The subject of the newest run."""
    newest = sorted(Path("results").glob("run-*/run.json"))[-1]
    return parse_run(newest.read_bytes()).subjects[0].name


@pytest.mark.parametrize(
    "words",
    [
        ["server.py"],
        ["server.py:other"],
        ["server:other"],
        ["everything"],
        [shlex.join(COMMAND)],
        ["--command", shlex.join(COMMAND)],
        ["--", *COMMAND],
    ],
    ids=["file", "variable", "module", "bundled", "quoted", "option", "dashes"],
)
def test_every_form_of_a_server_is_judged(words: list[str], capsys: Output) -> None:
    end = words.index("--") if "--" in words else len(words)
    assert main(["check", *words[:end], *QUICK, *words[end:]]) == 0
    assert "conforms: 1 passed" in capsys.readouterr().out


def test_options_may_come_before_the_target() -> None:
    assert main(["check", *QUICK, "--transport", "http", "server.py"]) == 0
    assert "--transport http" not in subject() and "/mcp" in subject()


@contextmanager
def serving(port: int) -> Iterator[str]:
    line = [warm_python(), "-m", "assay", "serve", "everything", "--transport", "http", "--port", str(port)]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_url_is_judged(capsys: Output) -> None:
    with serving(free_port()) as url:
        assert main(["check", url, *QUICK]) == 0
    assert subject() == url


def test_a_command_is_started_and_reached_at_the_url(capsys: Output) -> None:
    port = str(free_port())
    command = [warm_python(), "-m", "assay", "serve", "server.py", "--transport", "http", "--port", port]
    assert main(["check", f"http://127.0.0.1:{port}/mcp", *QUICK, "--", *command]) == 0
    assert subject() == f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize("dashes", [True, False])
def test_a_client_is_judged(dashes: bool, capsys: Output) -> None:
    command = [warm_python(), str(VISITOR)]
    options = ["--client", "--scenario", "tools_call", "--spec-version", HANDSHAKE[-1].date]
    assert main(["check", *options, *(["--", *command] if dashes else [shlex.join(command)])]) == 0
    assert "conforms: 1 passed" in capsys.readouterr().out
    assert subject() == shlex.join(command)


def test_dashes_end_the_options_of_assay(capsys: Output) -> None:
    assert main(["check", "--timeout", "5", "--", "no-such-program", "--client", "--help"]) == 4
    assert "no-such-program --client --help" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem", "fix"),
    [
        ([], "no server to judge", "`assay check --help` shows examples"),
        (["python", "server.py"], "TARGET is one word", "-- python server.py"),
        (["FOO=1", "npx", "x"], "TARGET is one word", "-- env FOO=1 npx x"),
        (["FOO=1 npx x"], "begins with an assignment", "write: env FOO=1 npx x"),
        (["--", "FOO=1", "npx", "x"], "begins with an assignment", "write: env FOO=1 npx x"),
        (["--command", "FOO=1 npx x"], "begins with an assignment", "write: env FOO=1 npx x"),
        (["--client", "--", "FOO=1", "x"], "begins with an assignment", "write: env FOO=1 x"),
        (["--command", "x y", "--", "x"], "the command is given twice", "after `--`"),
        (["server.py", "--", "x"], "not both", "goes with a URL"),
        (["server.py", "--url", "http://x/"], "not both", ""),
        (["localhost:3000/mcp"], "its scheme is missing", "write http://localhost:3000/mcp"),
        (
            ["server.py", "--scenario", "tools-defnitions"],
            "no such scenario",
            "did you mean tools-definitions?",
        ),
        (["server.py", "--scenario", "auth/basic-cimd"], "no such scenario", "`assay check --client`"),
        (["--client"], "no client to judge", "--attach"),
        (["--client", "a b", "--", "c"], "the command is given twice", "after `--`"),
    ],
)
def test_a_wrong_guess_gets_the_right_form(words: list[str], problem: str, fix: str, capsys: Output) -> None:
    assert main(["check", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) <= 2
    assert problem in err and fix in err
    assert not Path("results").exists()


def test_an_official_scenario_selects_its_suite() -> None:
    options = ("--scenario", "tools-call-simple-text", "--spec-version", HANDSHAKE[-1].date)
    assert main(["check", "everything", *options]) == 0
    newest = sorted(Path("results").glob("run-*/run.json"))[-1]
    assert parse_run(newest.read_bytes()).suite == "everything"


def test_a_run_ends_with_the_command_that_shows_its_report(capsys: Output) -> None:
    assert main(["check", "server.py", *QUICK]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("report: assay report results/run-")
    assert main(last.removeprefix("report: assay ").split()) == 0
    assert "<!doctype html>" in capsys.readouterr().out


def test_later_commands_take_the_newest_run(capsys: Output) -> None:
    for command in (["report"], ["judge"], ["diff"]):
        assert main(command) == 2
        assert "no stored run in results" in capsys.readouterr().err
    assert main(["check", "server.py", *QUICK]) == 0
    capsys.readouterr()
    assert main(["diff"]) == 2
    assert "only one stored run in results" in capsys.readouterr().err
    assert main(["report"]) == main(["report", "results"]) == 0
    first = capsys.readouterr().out
    assert "conforms: 1 passed" in first
    assert main(["judge"]) == 0
    assert main(["check", "everything", "--scenario", "tools-definitions", *QUICK[2:]]) == 0
    capsys.readouterr()
    assert main(["report"]) == 0
    assert capsys.readouterr().out != first
    assert main(["diff"]) == main(["diff", "results"]) == 0
    assert "no worse: 1 new, 1 gone" in capsys.readouterr().out


def test_check_and_server_are_the_same_command(capsys: Output) -> None:
    assert main(["check", "--help"]) == main(["server", "--help"]) == 0
    first, second = capsys.readouterr().out.split("usage: assay ")[1:]
    assert first.removeprefix("check") == second.removeprefix("server")


@pytest.mark.parametrize("words", [["http://localhost:3000/mcp"], ["python server.py"]])
def test_what_is_judged_cannot_be_served(words: list[str], capsys: Output) -> None:
    assert main(["serve", *words]) == 2
    assert "`assay check` judges URLs and commands" in capsys.readouterr().err
