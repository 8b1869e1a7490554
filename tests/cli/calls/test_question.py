"""Questions of a server, answered on a real terminal, by options, or declined with a line that says how."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from assay.cli.main import main
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.cli.calls.calculator import in_thread, on_http
from tests.driving.process import environment

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with in_thread(on_http) as url:
        yield url


@contextlib.contextmanager
def typing(text: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a user type this; \\x04 is Ctrl-D."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        os.write(ours, text.encode())
        yield
        os.close(ours)


ALL = "Ada\n7\nRed\nmon, 2\nada@example.com\ntrue\n\n"


@pytest.mark.parametrize("revision", [HANDSHAKE[-1].date, PER_REQUEST[-1].date])
@pytest.mark.parametrize(
    ("typed", "result"),
    [
        (ALL, {"name": "Ada", "age": 7, "colour": "r", "days": ["mon", "tue"],
               "email": "ada@example.com", "news": True}),
        ("Ada\n\n2\n\n\n\ns\n", {"name": "Ada", "age": 30, "colour": "b"}),
    ],
)  # fmt: skip
def test_a_form_is_filled_field_by_field(
    url: str,
    typed: str,
    result: dict[str, Any],
    revision: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
) -> None:
    with typing(typed, monkeypatch):
        assert main(["call", url, "introduce", "--revision", revision]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"accept {result}\n"
    assert "the server asks: Who are you?" in captured.err
    assert "Your name (name): string of at least 2 characters\n" in captured.err
    assert "age: integer from 0, optional\n  age [30]: " in captured.err
    assert "colour: one of these\n  1. r: Red\n  2. b\n" in captured.err


def test_wrong_values_are_asked_for_again(url: str, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    typed = "A\n\nAda\n-1\nx\n1\ngreen\nr\nwed\n\nnot-an-address\n\nperhaps\nno\n\n"
    with typing(typed, monkeypatch):
        assert main(["call", url, "introduce"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "accept {'name': 'Ada', 'age': 1, 'colour': 'r', 'news': False}\n"
    for problem in (
        "it must be string of at least 2 characters",
        "a value is required",
        "it must be integer from 0",
        "it must be one of: r | b",
        "it must be one of: mon | tue",
        "it must be string (email)",
        "it must be a boolean: true or false",
    ):
        assert problem in captured.err


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("Ada\n\nr\n\n\n\nd\n", "decline"),
        ("Ada\n\nr\n\n\n\nwhat\nc\n", "cancel"),
        ("Ada\n\nr\n\n\n\n\x04", "cancel"),
        ("\x04", "cancel"),
        ("A\n" * 20, "cancel"),
    ],
)
def test_a_user_may_decline_or_cancel(
    url: str, typed: str, action: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    with typing(typed, monkeypatch):
        assert main(["call", url, "introduce"]) == 0
    assert capsys.readouterr().out == f"{action} None\n"


@pytest.mark.parametrize(
    ("address", "typed", "action", "line"),
    [
        ("https://example.com/a?b=c", "y\n", "accept", "the page is on example.com"),
        ("https://example.com/a?b=c", "\n", "decline", "it wants you to open https://example.com/a?b=c"),
        ("https://example.com/a?b=c", "\x04", "cancel", "agree? [y/N]"),
        ("file:///etc/passwd", "", "decline", "declined: it is not the address of a web page"),
        ("https://good.example@evil.example/", "", "decline", "easily mistaken for another"),
        ("https://xn--pple-43d.com/", "", "decline", "easily mistaken for another"),
        ("https://evil.example\\.good.example/", "", "decline", "browsers may read it differently"),
        ("java\tscript:alert(1)", "", "decline", "browsers may read it differently"),
        ("javascript:alert(1)", "", "decline", "it is not the address of a web page"),
    ],
)
def test_a_page_needs_the_users_consent_and_is_never_opened_by_itself(
    url: str,
    address: str,
    typed: str,
    action: str,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
) -> None:
    with typing(typed, monkeypatch):
        assert main(["call", url, "log_in", f"url={address}"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{action}\n"
    assert line in captured.err


@pytest.mark.parametrize(
    ("words", "out", "line"),
    [
        (["introduce"], "decline None\n", "declined, because the answer needs a terminal; run the command"),
        (["introduce", "--answer", '{"name": "Ada", "colour": "r"}'],
         "accept {'name': 'Ada', 'colour': 'r'}\n", ""),
        (["introduce", "--answer", '{"nam": "Ada"}'],
         "decline None\n", "warning: the form has no field nam; its fields: name"),
        (["log_in", "url=https://example.com/"], "decline\n", "run the command in a terminal"),
    ],
)  # fmt: skip
def test_without_a_terminal_options_answer_or_the_question_is_declined(
    url: str, words: list[str], out: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert main(["call", url, *words]) == 0
    captured = capsys.readouterr()
    assert captured.out == out
    assert line in captured.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_question_and_the_command(number: signal.Signals) -> None:
    server = "from tests.cli.calls.calculator import server; server.run()"
    command = [sys.executable, "-m", "assay", "call", "introduce", "--", sys.executable, "-c", server]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        os.close(theirs)
        assert process.stdout is not None and process.stderr is not None
        asked = b""
        while b"  name: " not in asked:
            asked += os.read(process.stderr.fileno(), 4096)
        process.send_signal(number)
        assert process.stderr.read() == b""
        assert process.stdout.read() == b""
        assert process.wait(20) == 130
    os.close(ours)
