"""`assay server --suite everything`: nothing is green that was not shown by a server that works."""

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import parse_run
from tests.cli.subjects import hollow
from tests.cli.subjects.hollow import Answer
from tests.cli.test_server import free_port
from tests.driving.warm_python import warm_python

SUITE = ("--suite", "everything")
GREEN = {"passed", "passed with warnings"}
# Who greets has shown that it can; and an empty result is the right answer to these two.
EARNED = {
    hollow.greet_and_deny: {"server-initialize"},
    hollow.greet_and_answer_nothing: {"server-initialize", "ping", "logging-set-level"},
}
# Name → exit code, and words that show how far it got.
SERVERS = {
    hollow.deny: (3, "the server supports none of the selected revisions"),
    hollow.answer_nothing: (1, "observed"),
    hollow.echo: (3, "the server supports none of the selected revisions"),
    hollow.greet_and_deny: (1, "does not conform"),
    hollow.greet_and_answer_nothing: (1, "does not conform"),
}
Output = pytest.CaptureFixture[str]
ANSWERING = [answer for answer in SERVERS if answer is not hollow.echo]
"""What comes back on stdio as it went is a request, and answers nothing."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def green() -> set[str]:
    """Scenarios that the stored run calls passed."""
    runs = [parse_run(path.read_bytes()) for path in Path("results").glob("run-*/run.json")]
    return {cell.scenario for run in runs for cell in run.cells if cell.outcome in GREEN}


def on_stdio(answer: Answer) -> list[str]:
    return ["--command", f"{warm_python()} {hollow.__file__} {answer.__name__}"]


def test_closed_port_is_a_server_that_is_not_there() -> None:
    assert main(["server", "--url", f"http://127.0.0.1:{free_port()}/mcp", *SUITE]) == 4
    assert green() == set()


@pytest.mark.parametrize("answer", SERVERS, ids=lambda answer: answer.__name__)
def test_hollow_server_gets_nothing_for_nothing_over_http(answer: Answer, capsys: Output) -> None:
    code, words = SERVERS[answer]
    with hollow.on_http(answer) as url:
        assert main(["server", "--url", url, *SUITE]) == code
    assert words in capsys.readouterr().out
    assert green() == EARNED.get(answer, set())


@pytest.mark.parametrize("answer", ANSWERING, ids=lambda answer: answer.__name__)
def test_hollow_server_gets_nothing_for_nothing_on_stdio(answer: Answer, capsys: Output) -> None:
    code, words = SERVERS[answer]
    assert main(["server", *on_stdio(answer), *SUITE]) == code
    assert words in capsys.readouterr().out
    assert green() == EARNED.get(answer, set())


def test_server_that_never_answers_proves_nothing_over_http(capsys: Output) -> None:
    with hollow.on_http(hollow.keep_silent) as url:
        options = ["--url", url, "--transport", "http", "--timeout", "0.2"]
        assert main(["server", *options, *SUITE]) == 3
    assert "no answer to" in capsys.readouterr().err
    assert green() == set()


@pytest.mark.parametrize("answer", [hollow.keep_silent, hollow.echo], ids=lambda answer: answer.__name__)
def test_server_that_never_answers_proves_nothing_on_stdio(answer: Answer, capsys: Output) -> None:
    assert main(["server", *on_stdio(answer), "--timeout", "0.2", *SUITE]) == 3
    assert "no answer to" in capsys.readouterr().err
    assert green() == set()
