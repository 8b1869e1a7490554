"""The time-out of a call stops while a user answers, and the layout follows the terminal."""

from __future__ import annotations

import asyncio

import pytest

from assay.cli.calls.session import Deadline, failure
from assay.cli.output.layout import indented, table
from assay.model.client_error import HttpFailure, Timeout
from assay.transport.client.http_hint import failure_hint


async def test_a_question_stops_the_time_out() -> None:
    deadline = Deadline(0.05)
    loop = asyncio.get_running_loop()

    async def answered() -> str:
        with deadline.paused(), deadline.paused():
            later: asyncio.Future[str] = loop.create_future()
            loop.call_later(0.2, later.set_result, "answer")
            return await later

    assert await deadline.wait(answered()) == "answer"


async def test_the_time_out_begins_again_after_a_question() -> None:
    deadline = Deadline(0.05)

    async def unanswered() -> None:
        with deadline.paused():
            pass
        await asyncio.Event().wait()

    with pytest.raises(Timeout, match=r"no answer in 0\.05 s; --timeout"):
        await deadline.wait(unanswered())
    with deadline.paused():
        pass  # a question after the end is harmless


def test_lines_are_wrapped_to_the_terminal_and_whole_in_a_pipe() -> None:
    text = "add a=<integer> b=<integer>\n  kept indent of a long line"
    assert list(indented(text, "", None)) == text.split("\n")
    assert list(indented(text, "  ", 22, "    ")) == [
        "  add a=<integer>",
        "      b=<integer>",
        "    kept indent of a long",  # a narrow terminal has room for 20 characters
        "        line",
    ]


def test_columns_fit_their_longest_word() -> None:
    assert list(table([("a", "first"), ("long", "second")])) == ["  a     first", "  long  second"]


def test_errors_name_the_options_of_commands() -> None:
    error = HttpFailure("http://localhost/mcp", 401, hint=failure_hint(401, {}))
    assert "pass --oauth, or --token TOKEN" in str(failure(error))
