"""Requests that may lead to questions, a client that gives each kind of answer, and faulty questions."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from assay.lab.harness import ABSENT, FaultContext, Json, on_reply
from assay.lab.harness.driver.argument import arguments_for, prompt_arguments, value_for
from assay.lab.harness.driver.choice import ASKING, matching_tools
from assay.lab.harness.driver.inbound import SAMPLED
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT, SAMPLE, converse, converse_with, question_params
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.naming import id_of
from assay.lab.harness.need import Need
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.subject.facts import Facts

ALL_CAPABILITIES: Final[Mapping[str, Any]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
}
FORMS_AND_TEXT: Final[Mapping[str, Any]] = {"elicitation": {}, "sampling": {}}
"""The least that a client must declare to be asked: forms, and a model without tools."""
MAX_REQUESTS: Final = 20
"""Tools and prompts of one kind that are tried."""
MISFIT: Final = "misfit-of-the-lab"
MISFIT_NUMBER: Final = 4711004711
Send = Callable[[], Awaitable[Reply]]


def safe_requests(peer: Peer, facts: Facts) -> Iterator[Send]:
    """Prompts and callable tools; first those whose description mentions questions."""
    asking = [tool for tool in facts.callable_tools if tool in matching_tools(ASKING, facts)]
    others = [tool for tool in facts.quick_tools if tool not in asking]
    for tool in [*asking, *others][:MAX_REQUESTS]:
        yield partial(converse_with, peer, tool, facts.arguments_for(tool))
    for prompt in facts.prompts[:MAX_REQUESTS]:
        params = {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)}
        yield partial(converse, peer, "prompts/get", params)


def requests_with_effects(peer: Peer, facts: Facts) -> Iterator[Send]:
    """Tools that are not read-only and whose description mentions questions."""
    for tool in _asking_tools_with_effects(facts):
        yield partial(converse_with, peer, tool, facts.arguments_for(tool))


def _asking_tools_with_effects(facts: Facts) -> list[dict[str, Any]]:
    return [tool for tool in matching_tools(ASKING, facts) if tool not in facts.read_only_tools]


AN_ASKING_TOOL_WITH_EFFECTS: Final = Need(
    lambda facts: bool(_asking_tools_with_effects(facts)),
    "has no tool whose description mentions questions, besides read-only ones",
)


class Answers:
    """Answers the questions that a peer receives, and can try every kind of answer."""

    def __init__(self, peer: Peer) -> None:
        self.answer_form: Callable[[Any], dict[str, Any]] = accept
        self.url_action = "decline"
        self.modes: set[str] = set()
        """Modes of the elicitations since this was last emptied."""
        peer.responders[ELICIT] = self._elicit
        peer.responders[SAMPLE] = sample

    def _elicit(self, params: dict[str, Any]) -> dict[str, Any]:
        mode = "url" if params.get("mode") == "url" else "form"
        self.modes.add(mode)
        url = mode == "url"
        return {
            "result": {"action": self.url_action} if url else self.answer_form(params.get("requestedSchema"))
        }

    async def try_all(self, send: Send) -> None:
        """Send a request, and if it leads to questions, repeat it with every kind of answer."""
        self.answer_form, self.url_action, self.modes = accept, "decline", set()
        await send()
        modes = self.modes
        for self.answer_form in (decline, cancel, misfit) if "form" in modes else ():
            await send()
        if "url" in modes:
            self.answer_form, self.url_action = accept, "accept"
            # After consent, a server may wait for the page indefinitely, so a missing result is allowed.
            with contextlib.suppress(NoAnswer):
                await send()


def accept(schema: Any) -> dict[str, Any]:
    """Every field with a value that fits its schema."""
    return {"action": "accept", "content": {name: value_for(part) for name, part in _fields(schema)}}


def decline(schema: Any) -> dict[str, Any]:
    return {"action": "decline"}


def cancel(schema: Any) -> dict[str, Any]:
    return {"action": "cancel"}


def misfit(schema: Any) -> dict[str, Any]:
    """Every field with a value that breaks its schema and is recognised in a later result."""
    return {"action": "accept", "content": {name: _misfit(part) for name, part in _fields(schema)}}


def _misfit(part: dict[str, Any]) -> Any:
    free_text = part.get("type") == "string" and not {"enum", "oneOf"} & part.keys()
    return MISFIT_NUMBER if free_text else MISFIT


def _fields(schema: Any) -> list[tuple[str, dict[str, Any]]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    parts = properties.items() if isinstance(properties, dict) else ()
    return [(name, part) for name, part in parts if isinstance(part, dict)]


def sample(params: dict[str, Any]) -> dict[str, Any]:
    """A model that uses the first tool once, and then answers with text."""
    tools = params.get("tools")
    tool = tools[0] if isinstance(tools, list) and tools else None
    if not isinstance(tool, dict) or "tool_result" in str(params.get("messages")):
        return {"result": SAMPLED}
    use = {"type": "tool_use", "id": "use-1", "name": tool.get("name"), "input": arguments_for(tool)}
    return {"result": {**SAMPLED, "stopReason": "toolUse", "content": use}}


QuestionEdit = Callable[[Json, FaultContext], None]


def on_question(
    method: str, fault: str, *, breaks: str, mode: str = "", id: str = "", **options: Any
) -> Callable[[QuestionEdit], Saboteur]:
    """Edit the parameters of questions in place: those of a method and, for elicitation, of a mode."""

    def decorated(edit: QuestionEdit) -> Saboteur:
        def change(reply: Json, context: FaultContext) -> Json:
            for params in question_params(reply, method):
                if not mode or mode == ("form" if "requestedSchema" in params else params.get("mode")):
                    edit(params, context)
            return reply

        saboteur: Saboteur = on_reply(fault, id=id or id_of(edit), breaks=breaks, **options)(change)
        return saboteur

    return decorated


def edited_questions(
    method: str, *rows: tuple[str, str, str, str, object], **options: Any
) -> tuple[Saboteur, ...]:
    """Faults in one parameter of a question, as rows of id, fault, broken requirement, key and value."""
    return tuple(
        on_question(method, fault, id=name, breaks=breaks, **options)(_edit(key, value))
        for name, fault, breaks, key, value in rows
    )


def _edit(key: str, value: object) -> QuestionEdit:
    def edit(params: Json, context: FaultContext) -> None:
        if value is ABSENT:
            params.pop(key, None)
        else:
            params[key] = value

    return edit
