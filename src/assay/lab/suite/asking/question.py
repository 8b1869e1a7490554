"""A client that can be asked anything: every request that may lead to questions, and each kind of answer.

Whoever consents to open a page may wait for it for ever: that is the only answer whose outcome is not
insisted on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from assay.lab.harness.driver.argument import arguments_for, prompt_arguments, value_for
from assay.lab.harness.driver.choice import ASKING, tools_that
from assay.lab.harness.driver.input_round import converse, converse_with
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT, SAMPLE
from assay.lab.harness.driver.responder import SAMPLED
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts, hints

EVERYTHING: Final[Mapping[str, Any]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
}
"""What a client can declare that it may be asked."""
FORMS_AND_TEXT: Final[Mapping[str, Any]] = {"elicitation": {}, "sampling": {}}
"""The least that lets a client be asked at all: forms, and a model without tools."""
MOST: Final = 20
"""Requests of one kind that are tried."""
MISFIT: Final = "misfit-of-the-lab"
MISFIT_NUMBER: Final = 4711004711
Ask = Callable[[], Awaitable[Reply]]


def harmless(peer: Peer, facts: Facts) -> Iterator[Ask]:
    """Requests that change nothing: prompts, and tools that only read; those that speak of asking first."""
    speaking = [tool for tool in tools_that(ASKING, facts) if hints(tool).get("readOnlyHint") is True]
    others = [tool for tool in facts.read_only_tools if tool not in speaking]
    for tool in [*speaking, *others][:MOST]:
        yield partial(converse_with, peer, tool, arguments_for(tool))
    for prompt in facts.prompts[:MOST]:
        params = {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)}
        yield partial(converse, peer, "prompts/get", params)


def effective(peer: Peer, facts: Facts) -> Iterator[Ask]:
    """Calls of the other tools that speak of asking."""
    for tool in _other_tools(facts):
        yield partial(converse_with, peer, tool, arguments_for(tool))


def _other_tools(facts: Facts) -> list[dict[str, Any]]:
    return [tool for tool in tools_that(ASKING, facts) if tool not in facts.read_only_tools]


ANOTHER_ASKING_TOOL: Final = Need(
    lambda facts: bool(_other_tools(facts)), "has no tool that speaks of asking, besides those that only read"
)


class Interviewee:
    """Answers what a peer is asked, in the way that is wanted just now."""

    def __init__(self, peer: Peer) -> None:
        self.form: Callable[[Any], dict[str, Any]] = accept
        self.visit = "decline"
        self.modes: set[str] = set()
        """How it was asked since this was last emptied."""
        peer.responders[ELICIT] = self._elicited
        peer.responders[SAMPLE] = sampled

    def _elicited(self, params: dict[str, Any]) -> dict[str, Any]:
        mode = "url" if params.get("mode") == "url" else "form"
        self.modes.add(mode)
        by_mode = {"url": {"action": self.visit}, "form": self.form(params.get("requestedSchema"))}
        return {"result": by_mode[mode]}

    async def sit_through(self, ask: Ask) -> None:
        """Let it ask, and where it asks, give every kind of answer."""
        self.form, self.visit, self.modes = accept, "decline", set()
        await ask()
        asked = self.modes
        for self.form in (decline, cancel, misfit) if "form" in asked else ():
            await ask()
        if "url" in asked:
            self.form, self.visit = accept, "accept"
            with contextlib.suppress(NoAnswer):
                await ask()


def accept(schema: Any) -> dict[str, Any]:
    """Every field, filled in as its schema wants it."""
    return {"action": "accept", "content": {name: value_for(part) for name, part in _fields(schema)}}


def decline(schema: Any) -> dict[str, Any]:
    return {"action": "decline"}


def cancel(schema: Any) -> dict[str, Any]:
    return {"action": "cancel"}


def misfit(schema: Any) -> dict[str, Any]:
    """Every field, filled in so that its schema refuses it, and so that it is known when it comes back."""
    return {"action": "accept", "content": {name: _misfit(part) for name, part in _fields(schema)}}


def _misfit(part: dict[str, Any]) -> Any:
    free_text = part.get("type") == "string" and not {"enum", "oneOf"} & part.keys()
    return MISFIT_NUMBER if free_text else MISFIT


def _fields(schema: Any) -> list[tuple[str, dict[str, Any]]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    parts = properties.items() if isinstance(properties, dict) else ()
    return [(name, part) for name, part in parts if isinstance(part, dict)]


def sampled(params: dict[str, Any]) -> dict[str, Any]:
    """A model that uses the first tool it is offered, once, and then speaks."""
    tools = params.get("tools")
    tool = tools[0] if isinstance(tools, list) and tools else None
    if not isinstance(tool, dict) or "tool_result" in str(params.get("messages")):
        return {"result": SAMPLED}
    use = {"type": "tool_use", "id": "use-1", "name": tool.get("name"), "input": arguments_for(tool)}
    return {"result": {**SAMPLED, "stopReason": "toolUse", "content": use}}
