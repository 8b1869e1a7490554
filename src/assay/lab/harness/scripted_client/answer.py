"""What the client answers when the server asks: as its context says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.scripted_server.answer import Refused
from assay.lab.harness.trace.json_schema import value_problem
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.revision import Asking

from .form import filled
from .web import Web

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]
TEXT: Final = "an answer"
MODEL: Final = "assay-lab-guest"


class Answers:
    def __init__(self, client: ScriptedClient, context: Json) -> None:
        self._client = client
        self.told: Json = context.get("answers", {})
        self.names: frozenset[str] = frozenset(context.get("capabilities", ()))
        """What the client was asked to declare, as `sampling` or `sampling.tools`."""
        self.roots: list[Json] = list(self.told.get("roots", []))
        self.addresses: list[str] = []
        """That the server wanted to be opened."""
        self._before: list[Json] = list(self.told.get("before_answering", []))

    @property
    def capabilities(self) -> Json:
        """As they are declared in the guest's revision."""
        declared = self._client.behaviour.declares
        return self.own if declared is None else declared

    @property
    def own(self) -> Json:
        """What it is ready to answer."""
        revision = self._client.revision
        found: Json = {}
        if "roots" in self._groups:
            changes = "roots.listChanged" in self.names and revision.asking is Asking.BY_REQUEST
            found["roots"] = {"listChanged": True} if changes else {}
        if "sampling" in self._groups:
            tools = "sampling.tools" in self.names and revision.sampling_tools
            found["sampling"] = {"tools": {}} if tools else {}
        if "elicitation" in self._groups and revision.elicitation:
            found["elicitation"] = self._modes()
        return found

    @property
    def _groups(self) -> set[str]:
        return {name.partition(".")[0] for name in self.names}

    def _modes(self) -> Json:
        """Nothing said means forms only, which is also all that the first revision with forms can say."""
        if "elicitation.url" not in self.names or "url" not in self._client.revision.elicitation:
            return {}
        return {"form": {}, "url": {}} if "elicitation" in self.names else {"url": {}}

    async def answer(self, method: str, params: Json) -> Json:
        """
        Raises:
            Refused: it has no answer to this.
        """
        group = _GROUPS.get(method)
        if group is None or (group and group not in self.own and self._client.behaviour.checks_declared):
            raise Refused(METHOD_NOT_FOUND, f"no such method: {method}")
        if group:
            await self._prepare()
        return await _ANSWERS[method](self, params)

    async def _prepare(self) -> None:
        """Do what is to be done before an answer; a question that this leads to is answered at once."""
        steps, self._before = self._before, []
        try:
            await self._client.play(steps)
        finally:
            self._before = steps

    async def ping(self, params: Json) -> Json:
        return {}

    async def list_roots(self, params: Json) -> Json:
        return {"roots": self.roots}

    async def elicit(self, params: Json) -> Json:
        mode = params.get("mode", "form")
        if self._client.behaviour.checks_declared and not self._has_mode(mode):
            raise Refused(INVALID_PARAMS, f"mode {mode} was not declared")
        if mode == "url":
            await self._consider(str(params.get("url")))
        action = self.told.get("elicitation", "decline")
        if action != "accept" or mode != "form":
            return {"action": action}
        schema = params.get("requestedSchema")
        content = filled(schema, defaults=self._client.behaviour.uses_defaults)
        if self._client.behaviour.validates_answers and value_problem(content, schema) is not None:
            return {"action": "cancel"}
        return {"action": action, "content": content}

    async def _consider(self, address: str) -> None:
        """An address is only ever looked at by its user."""
        self.addresses.append(address)
        if self._client.behaviour.previews_addresses:
            await Web(self._client).fetch("GET", address)

    async def leave(self) -> None:
        """What is done when all steps are taken."""
        for address in self.addresses if self._client.behaviour.opens_declined else ():
            await Web(self._client).fetch("GET", address)

    def _has_mode(self, mode: Any) -> bool:
        modes = self.own.get("elicitation", {})
        return mode in modes if modes else mode == "form"

    async def sample(self, params: Json) -> Json:
        tools = params.get("tools")
        offers = tools or params.get("toolChoice")
        if offers and self._client.behaviour.checks_declared and "tools" not in self.own.get("sampling", {}):
            raise Refused(INVALID_PARAMS, "sampling with tools was not declared")
        if (problem := conversation_problem(params.get("messages"))) is not None:
            raise Refused(INVALID_PARAMS, problem)
        about = {"role": "assistant", "model": MODEL}
        choice = params.get("toolChoice")
        if tools and isinstance(choice, dict) and choice.get("mode") == "required":
            used = {"type": "tool_use", "id": "use-1", "name": tools[0].get("name"), "input": {}}
            return {**about, "content": [used], "stopReason": "toolUse"}
        text, stopped = _cut(self.told.get("sampling", {}).get("text", TEXT), params.get("maxTokens"))
        return {**about, "content": {"type": "text", "text": text}, "stopReason": stopped}


def _cut(text: str, most: Any) -> tuple[str, str]:
    """A text of at most so many tokens, and why it ends; a word is a token here."""
    words = text.split()
    if isinstance(most, int) and 0 < most < len(words):
        return " ".join(words[:most]), "maxTokens"
    return text, "endTurn"


def conversation_problem(messages: Any) -> str | None:
    """Why a conversation about tools does not hold together."""
    open_uses: set[Any] = set()
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [
            one for one in (content if isinstance(content, list) else [content]) if isinstance(one, dict)
        ]
        results = {one.get("toolUseId") for one in blocks if one.get("type") == "tool_result"}
        if results and any(one.get("type") != "tool_result" for one in blocks):
            return "tool results are mixed with other content"
        if open_uses - results:
            return "a tool use has no result"
        open_uses = {one.get("id") for one in blocks if one.get("type") == "tool_use"}
    return None


_GROUPS: Final = {
    "ping": "",
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}
_ANSWERS: Final[dict[str, Callable[[Answers, Json], Awaitable[Json]]]] = {
    "ping": Answers.ping,
    "roots/list": Answers.list_roots,
    "sampling/createMessage": Answers.sample,
    "elicitation/create": Answers.elicit,
}
