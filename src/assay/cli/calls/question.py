"""Questions of a server to the user: answered in the terminal, by `--answer`, or declined."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final
from urllib.parse import urlsplit

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output.stream import say, say_lines
from assay.model.answer import Elicited
from assay.model.question import ElicitationRequest
from assay.protocol.oauth.address import AMBIGUOUS

from .form import Cancelled, fill
from .schema import Misfit, read_json
from .terminal import Terminal

CHARACTERS: Final = 4000
"""Of a server's message."""
HOW: Final = "run the command in a terminal, or pass --answer '{…}'"
HOW_URL: Final = "run the command in a terminal"
_ACTIONS: Final = {"": "accept", "s": "accept", "d": "decline", "c": "cancel"}


class Questions:
    """The handler for elicitation. `paused` stops the time-out of the call while the user thinks."""

    def __init__(self, answers: Sequence[str], paused: Callable[[], AbstractContextManager[None]]) -> None:
        """
        Raises:
            CommandFailed: an answer is not a JSON object.
        """
        self._answers = [_read_answer(text) for text in answers]
        self._paused = paused
        self._terminal = Terminal()
        self._turn = asyncio.Lock()

    async def answer(self, request: ElicitationRequest) -> Elicited[Any] | None:
        with self._paused():
            async with self._turn:  # one question at a time
                return await (self._url(request) if request.mode == "url" else self._form(request))

    async def _form(self, request: ElicitationRequest) -> Elicited[Any] | None:
        if self._answers:
            answer = self._answers.pop(0)
            _warn_of_misfit(answer, request.requested_schema)
            return Elicited("accept", answer)
        say_lines(["", f"the server asks: {request.message[:CHARACTERS]}"])
        if not self._terminal.is_there:
            say(f"declined, because the answer needs a terminal; {HOW}")
            return None
        say("  Enter takes the default or leaves an optional field out; Ctrl-D cancels")
        try:
            content = await fill(request.requested_schema, self._terminal.ask)
        except Cancelled:
            return Elicited("cancel")
        action = await self._action()
        return Elicited("accept", content) if action == "accept" else Elicited(action)

    async def _action(self) -> Any:
        while True:
            line = await self._terminal.ask("send, decline or cancel? [S/d/c]")
            if line is None:
                return "cancel"
            action = _ACTIONS.get(line.strip().lower()[:1])
            if action is not None:
                return action

    async def _url(self, request: ElicitationRequest) -> Elicited[Any] | None:
        """The page is never opened by itself: the user sees the whole address, and decides
        (client/elicitation, url mode)."""
        url = request.url or ""
        say_lines(["", f"the server asks: {request.message[:CHARACTERS]}", f"  it wants you to open {url}"])
        problem = _url_problem(url)
        if problem is not None:
            say(f"declined: {problem}")
            return None
        if not self._terminal.is_there:
            say(f"declined, because the answer needs a terminal; {HOW_URL}")
            return None
        say(f"  the page is on {urlsplit(url).hostname}; open it yourself if you trust it")
        line = await self._terminal.ask("agree? [y/N]")
        if line is None:
            return Elicited("cancel")
        return Elicited("accept") if line.strip().lower() in ("y", "yes") else None

    def close(self) -> None:
        self._terminal.close()


def _warn_of_misfit(answer: dict[str, Any], schema: Any) -> None:
    """The answer is sent as it is, to try servers; but a misspelt field would be hard to find."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    unknown = [name for name in answer if name not in properties]
    if unknown:
        say(f"warning: the form has no field {', '.join(unknown)}; its fields: {', '.join(properties)}")


def _url_problem(url: str) -> str | None:
    if AMBIGUOUS.search(url):
        return "browsers may read it differently than it is shown"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "it is not an address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "it is not the address of a web page"
    if parts.username is not None or not parts.hostname.isascii() or "xn--" in parts.hostname:
        return "its host name is easily mistaken for another"
    return None


def _read_answer(text: str) -> dict[str, Any]:
    try:
        value = read_json(text)
    except Misfit as error:
        raise CommandFailed(ExitCode.USAGE, f"--answer is not {error}") from None
    if not isinstance(value, dict):
        raise CommandFailed(ExitCode.USAGE, "--answer is not a JSON object", """write '{"field": value}'""")
    return value
