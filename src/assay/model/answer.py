"""Answers of clients to sampling, elicitation and roots requests."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar, cast

from msgspec import Struct, field

from .content import Audio, Block, Image, Role, Text, block_type
from .error import AskError

T = TypeVar("T")


class ToolUse(Struct, tag_field="type", tag="tool_use", omit_defaults=True):
    """A tool that the model wants to call, if the request offered tools."""

    id: str
    name: str
    input: dict[str, Any]
    meta: dict[str, Any] | None = field(name="_meta", default=None)
    type = property(block_type)


class ToolUseResult(Struct, tag_field="type", tag="tool_result", omit_defaults=True, rename="camel"):
    """The result of a `ToolUse`, for the next user message."""

    tool_use_id: str
    content: list[Block]
    structured_content: dict[str, Any] | None = None
    is_error: bool = False
    meta: dict[str, Any] | None = field(name="_meta", default=None)
    type = property(block_type)


SampledBlock = Text | Image | Audio | ToolUse | ToolUseResult


class Sampled(Struct, rename="camel"):
    """The answer of the client's model, from `Context.sample`."""

    role: Role
    content: SampledBlock | list[SampledBlock]
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """All text of the answer; empty if it has none."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        return "".join(block.text for block in blocks if isinstance(block, Text))


class ElicitAnswer(Struct):
    """The wire shape of an answer to `elicitation/create`."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class Elicited(Struct, Generic[T]):
    """The user's reply, from `Context.elicit` and `Context.elicit_url`.

    `content` is set if the user accepted a form: a value of the type that was asked for, or a dict if that
    was a JSON Schema.
    """

    action: Literal["accept", "decline", "cancel"]
    content: T | None = None
    id: str | None = None
    """The id of an elicitation by URL, for `Context.elicitation_complete`."""

    @property
    def accepted(self) -> bool:
        """Whether the user agreed, instead of declining or cancelling."""
        return self.action == "accept"

    @property
    def data(self) -> T:
        """The answer of a user who accepted.

        Raises:
            AskError: the user declined or cancelled. Check `accepted` first if the handler can go on.
        """
        if self.action != "accept":
            raise AskError(f"the user did not answer: {self.action}")
        return cast(T, self.content)


class Root(Struct):
    """A folder or file that the client allows the server to work in."""

    uri: str
    name: str | None = None


class RootsAnswer(Struct):
    roots: list[Root]
