"""The texts of a client's errors quote servers: nothing in them acts on a terminal."""

from __future__ import annotations

import pytest

from assay import (
    AuthorizationFailed,
    ClientError,
    ConnectionFailed,
    HttpFailure,
    InvalidAnswer,
    ServerDied,
    ServerError,
    Timeout,
    ToolFailed,
)
from assay.model.content import Text
from assay.model.error import MISSING_CAPABILITY
from assay.model.result import ToolResult

ACTING = "\x1b[31m\x9b2J\u202e\x07\r"


@pytest.mark.parametrize(
    "error",
    [
        ClientError(ACTING),
        ConnectionFailed(f"the server closed the connection: {ACTING}"),
        InvalidAnswer(f"an unknown type: {ACTING}"),
        Timeout(f"no answer{ACTING}"),
        HttpFailure(ACTING, 307, ACTING, {}, f"redirected to {ACTING}"),
        AuthorizationFailed(ACTING),
        ServerError(-1, ACTING),
        ServerDied(ACTING, 1, [ACTING], [ACTING]),
        ToolFailed(ACTING, ToolResult([Text(ACTING)])),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_text_of_a_server_acts_in_an_error(error: ClientError) -> None:
    assert not set(str(error)) & set(ACTING.replace("[31m", "").replace("2J", ""))


def test_the_lines_of_an_error_stay_lines() -> None:
    assert str(ConnectionFailed("closed\n  not a message: x")) == "closed\n  not a message: x"


def test_a_missing_capability_names_the_option() -> None:
    error = ServerError(MISSING_CAPABILITY, "the client does not support elicitation")
    assert str(error).endswith("elicitation (-32021); pass elicitation=, sampling= or roots= to Client")


@pytest.mark.parametrize("text", ["no paper", "tool print failed: no paper"])
def test_a_failure_names_the_tool_once(text: str) -> None:
    assert str(ToolFailed("print", ToolResult([Text(text)]))) == "tool print failed: no paper"
