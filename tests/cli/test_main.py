"""Help, version, mistakes and suggestions, and how each kind of ending becomes an exit code."""

import re
import subprocess
import sys

import pytest

import assay
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.main import commands, main

Output = pytest.CaptureFixture[str]


def fail_with(failure: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server that is served fail."""

    def run(*arguments: object) -> None:
        raise failure

    monkeypatch.setattr("assay.cli.serve.run", run)


def test_exit_codes_are_the_documented_ones() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0,
        "DOES_NOT_CONFORM": 1,
        "USAGE": 2,
        "INCOMPLETE": 3,
        "NOT_STARTED": 4,
        "OUR_FAULT": 70,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_says_what_it_is_and_shows_commands_and_examples(option: str, capsys: Output) -> None:
    assert main([option]) == ExitCode.OK
    captured = capsys.readouterr()
    assert "build MCP servers" in captured.out
    assert "  serve      serve your MCP server" in captured.out
    assert "  check      judge an MCP server" in captured.out
    assert "assay serve reference --transport http" in captured.out
    assert captured.err == ""


def test_no_command_at_all_is_a_mistake_answered_with_help(capsys: Output) -> None:
    assert main([]) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "usage: assay <command>" in captured.err


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, capsys: Output) -> None:
    assert main([option]) == ExitCode.OK
    assert capsys.readouterr().out == f"assay {assay.__version__}\n"


@pytest.mark.parametrize(
    ("word", "kind", "hint"),
    [
        ("sevre", "command", "did you mean serve?"),
        ("chekc", "command", "did you mean check?"),
        ("certfy", "command", "did you mean certify?"),
        ("run", "command", "write `assay serve server.py`"),
        ("parser", "command", "`assay --help` shows all commands"),
        ("exit-code", "command", "`assay --help` shows all commands"),
        ("options", "command", "`assay --help` shows all commands"),
        ("", "command", "`assay --help` shows all commands"),
        ("--verbose", "option", "`assay --help` shows all commands"),
    ],
)
def test_an_unknown_word_gets_a_line_and_the_nearest_command(
    word: str, kind: str, hint: str, capsys: Output
) -> None:
    assert main([word]) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"assay: error: unknown {kind}: {word}\n  {hint}\n")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("serve everything --porrt 1", "did you mean --port?"),
        ("check everything --scenaro x", "did you mean --scenario?"),
        ("check everything --spec-versions=x", "did you mean --spec-version?"),
        ("check --client python --secnario x", "did you mean --scenario?"),
        ("serve everything --db x", "options of your own command go after `--`"),
        ("check python server.py --zzz", "options of your own command go after `--`"),
        ("report --fromat html", "did you mean --format?"),
        ("registry biuld", "did you mean build?"),
        ("registry check x --formats json", "did you mean --format?"),
        ("verify x y --trust z", "see `assay verify --help`"),
    ],
)
def test_an_unknown_option_gets_a_line_and_the_nearest_one(line: str, hint: str, capsys: Output) -> None:
    assert main(line.split()) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 2
    assert hint in captured.err


def help_of(words: list[str], capsys: Output) -> list[str]:
    assert main([*words, "--help"]) == ExitCode.OK
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.splitlines()


COMMANDS = [
    *([name] for name, command in commands() if not hasattr(command, "ACTIONS")),
    *([name, action] for name, command in commands() for action in getattr(command, "ACTIONS", ())),
    ["check", "--client"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_of_every_command_teaches(words: list[str], capsys: Output) -> None:
    lines = help_of(words, capsys)
    assert lines[0].startswith(f"usage: assay {' '.join(words)} ")
    assert max(map(len, lines)) <= 110
    if len(words) == 1 or words[1] == "--client":
        assert lines.index("examples:") < lines.index("help:")  # before any option
        assert lines[lines.index("examples:") + 1].startswith("  assay ")
    for option, below, after in zip(lines, lines[1:], lines[2:], strict=False):
        if option.startswith("  -"):
            # Names that fill their column have their help on the next line.
            names_alone = re.search(r"\S {2,}\S", option.strip()) is None
            rest = after if names_alone else below
            assert not rest.startswith(" " * 20), f"the help of {option.strip()} takes two lines"


def test_a_command_explains_itself(capsys: Output) -> None:
    assert main(["serve", "--help"]) == ExitCode.OK
    captured = capsys.readouterr().out
    assert captured.startswith("usage: assay serve ")
    assert "path/to/file.py[:name]" in captured
    assert "--traceback" in captured
    assert "--suite" not in captured


@pytest.mark.parametrize("action", ["registry", "ledger"])
def test_a_command_with_actions_lists_them(action: str, capsys: Output) -> None:
    lines = help_of([action], capsys)
    assert "actions:" in lines and "examples:" in lines


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    fail_with(KeyboardInterrupt(), monkeypatch)
    assert main(["serve", "everything"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_an_unforeseen_failure_is_ours_and_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    fail_with(RuntimeError("boom"), monkeypatch)
    assert main(["serve", "everything"]) == ExitCode.OUR_FAULT
    captured = capsys.readouterr().err
    assert captured.startswith("assay: error: internal error: RuntimeError: boom\n")
    assert len(captured.splitlines()) == 2


def test_a_traceback_is_shown_on_request(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    fail_with(RuntimeError("boom"), monkeypatch)
    assert main(["serve", "everything", "--traceback"]) == ExitCode.OUR_FAULT
    captured = capsys.readouterr().err
    assert captured.startswith("Traceback (most recent call last):\n")
    assert "RuntimeError: boom" in captured


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (CommandFailed(ExitCode.USAGE, "no such file: x.py"), "no such file: x.py"),
        (CommandFailed(ExitCode.USAGE, "no such file: x.py", "look"), "no such file: x.py\n  look"),
    ],
)
def test_a_failure_is_told_in_one_line_and_its_hint_in_another(failure: CommandFailed, text: str) -> None:
    assert str(failure) == text


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "assay", "--version"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, f"assay {assay.__version__}\n", "")


def test_a_command_is_loaded_only_when_it_is_wanted() -> None:
    code = (
        "import sys; from assay.cli.main import main; main(['-V']); print('assay.cli.serve' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert outcome.stdout.splitlines()[-1] == "False"
