"""Answers of the scripted client to requests of the server, as its context defines them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.scripted_server.answer import AnswerError
from assay.lab.harness.trace.json_schema import value_problem
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.revision import Asking

from .form import form_content
from .web import WebClient

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]
TEXT: Final = "an answer"
MODEL: Final = "assay-lab-client"


class Answers:
    def __init__(self, client: ScriptedClient, context: Json) -> None:
        self._client = client
        self._script: Json = context.get("answers", {})
        self._names: frozenset[str] = frozenset(context.get("capabilities", ()))
        """The capabilities to declare, as `sampling` or `sampling.tools`."""
        self.roots: list[Json] = list(self._script.get("roots", []))
        self._addresses: list[str] = []
        """The URLs of URL elicitations."""
        self._before: list[Json] = list(self._script.get("before_answering", []))

    @property
    def capabilities(self) -> Json:
        """The capabilities to declare, in the form of the client's revision."""
        declared = self._client.behaviour.declares
        return self._supported if declared is None else declared

    @property
    def _supported(self) -> Json:
        revision = self._client.revision
        capabilities: Json = {}
        if "roots" in self._groups:
            changes = "roots.listChanged" in self._names and revision.asking is Asking.BY_REQUEST
            capabilities["roots"] = {"listChanged": True} if changes else {}
        if "sampling" in self._groups:
            tools = "sampling.tools" in self._names and revision.sampling_tools
            capabilities["sampling"] = {"tools": {}} if tools else {}
        if "elicitation" in self._groups and revision.elicitation:
            capabilities["elicitation"] = self._modes()
        return capabilities

    @property
    def _groups(self) -> set[str]:
        return {name.partition(".")[0] for name in self._names}

    def _modes(self) -> Json:
        """An empty object means forms only; the first revision with elicitation knows nothing else."""
        if "elicitation.url" not in self._names or "url" not in self._client.revision.elicitation:
            return {}
        return {"form": {}, "url": {}} if "elicitation" in self._names else {"url": {}}

    async def answer(self, method: str, params: Json) -> Json:
        """
        Raises:
            Refused: the method is unknown, or needs a capability that was not declared.
        """
        group = _GROUPS.get(method)
        if group is None or (
            group and group not in self._supported and self._client.behaviour.checks_declared
        ):
            raise AnswerError(METHOD_NOT_FOUND, f"no such method: {method}")
        if group:
            await self._prepare()
        return await _ANSWERS[method](self, params)

    async def _prepare(self) -> None:
        """Run the `before_answering` steps, during which further requests are answered at once."""
        steps, self._before = self._before, []
        try:
            await self._client.run_steps(steps)
        finally:
            self._before = steps

    async def ping(self, params: Json) -> Json:
        return {}

    async def list_roots(self, params: Json) -> Json:
        return {"roots": self.roots}

    async def elicit(self, params: Json) -> Json:
        mode = params.get("mode", "form")
        if self._client.behaviour.checks_declared and not self._has_mode(mode):
            raise AnswerError(INVALID_PARAMS, f"mode {mode} was not declared")
        if mode == "url":
            await self._note_address(str(params.get("url")))
        action = self._script.get("elicitation", "decline")
        if action != "accept" or mode != "form":
            return {"action": action}
        schema = params.get("requestedSchema")
        content = form_content(schema, defaults=self._client.behaviour.uses_defaults)
        if self._client.behaviour.validates_answers and value_problem(content, schema) is not None:
            return {"action": "cancel"}
        return {"action": action, "content": content}

    async def _note_address(self, address: str) -> None:
        # Only the user may open the URL: the client must not fetch it without consent.
        self._addresses.append(address)
        if self._client.behaviour.previews_addresses:
            await WebClient(self._client).fetch("GET", address)

    async def finish(self) -> None:
        """Called after the last step."""
        for address in self._addresses if self._client.behaviour.opens_declined else ():
            await WebClient(self._client).fetch("GET", address)

    def _has_mode(self, mode: Any) -> bool:
        modes = self._supported.get("elicitation", {})
        return mode in modes if modes else mode == "form"

    async def sample(self, params: Json) -> Json:
        tools = params.get("tools")
        declared = "tools" in self._supported.get("sampling", {})
        if (tools or params.get("toolChoice")) and self._client.behaviour.checks_declared and not declared:
            raise AnswerError(INVALID_PARAMS, "sampling with tools was not declared")
        if (problem := conversation_problem(params.get("messages"))) is not None:
            raise AnswerError(INVALID_PARAMS, problem)
        message = {"role": "assistant", "model": MODEL}
        choice = params.get("toolChoice")
        if tools and isinstance(choice, dict) and choice.get("mode") == "required":
            used = {"type": "tool_use", "id": "use-1", "name": tools[0].get("name"), "input": {}}
            return {**message, "content": [used], "stopReason": "toolUse"}
        text, reason = _truncate(self._script.get("sampling", {}).get("text", TEXT), params.get("maxTokens"))
        return {**message, "content": {"type": "text", "text": text}, "stopReason": reason}


def _truncate(text: str, limit: Any) -> tuple[str, str]:
    """The text cut to a number of tokens, and the stop reason; a word counts as a token."""
    words = text.split()
    if isinstance(limit, int) and 0 < limit < len(words):
        return " ".join(words[:limit]), "maxTokens"
    return text, "endTurn"


def conversation_problem(messages: Any) -> str | None:
    """Why the tool uses and tool results of a conversation are invalid, or None."""
    open_uses: set[Any] = set()
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        items = content if isinstance(content, list) else [content]
        blocks = [block for block in items if isinstance(block, dict)]
        results = {block.get("toolUseId") for block in blocks if block.get("type") == "tool_result"}
        if results and any(block.get("type") != "tool_result" for block in blocks):
            return "tool results are mixed with other content"
        if open_uses - results:
            return "a tool use has no result"
        open_uses = {block.get("id") for block in blocks if block.get("type") == "tool_use"}
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
