"""Decorators with too few or too many parentheses name the fix, at the line where they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay import RegistrationError, Server


def settings() -> str:
    return "a"


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (
            lambda server: server.resource(settings),
            '@server.resource needs a URI: write @server.resource("config://settings"), above settings',
        ),
        (
            lambda server: server.resource(None),
            '@server.resource needs a URI: write @server.resource("config://settings"), not None',
        ),
        (
            lambda server: server.method(settings),
            '@server.method needs a name: write @server.method("models/list"), above settings',
        ),
        (
            lambda server: server.completion(settings, "a"),
            "@server.completion needs a target and an argument: write"
            ' @server.completion("review", "language"), above settings',
        ),
        (lambda server: server.tool("add"), "@server.tool('add'): write @server.tool(name=...)"),
        (lambda server: server.prompt("ask"), "@server.prompt('ask'): write @server.prompt(name=...)"),
    ],
)
def test_mistake_is_an_error_at_once(write: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(RegistrationError) as error:
        write(Server("test"))
    assert str(error.value) == text
