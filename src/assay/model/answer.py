"""What a server asks of a client, and the client's answers."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from .content import Audio, Block, Image, Role, Text


class ToolUse(Struct, tag_field="type", tag="tool_use", omit_defaults=True):
    """The model wants this tool called; only when the request offered tools."""

    id: str
    name: str
    input: dict[str, Any]
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ToolUseResult(Struct, tag_field="type", tag="tool_result", omit_defaults=True, rename="camel"):
    """What came of a `ToolUse`, sent back in the next user message."""

    tool_use_id: str
    content: list[Block]
    structured_content: dict[str, Any] | None = None
    is_error: bool = False
    meta: dict[str, Any] | None = field(name="_meta", default=None)


SampledBlock = Text | Image | Audio | ToolUse | ToolUseResult


class Sampled(Struct, rename="camel"):
    """The answer of the client's model."""

    role: Role
    content: SampledBlock | list[SampledBlock]
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """All text of the answer; empty when it holds none."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        return "".join(block.text for block in blocks if isinstance(block, Text))


class ElicitAnswer(Struct):
    """The wire shape of an answer to `elicitation/create`."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class Elicited(Struct):
    """What the user did: `content` is there only when they accepted a form.

    It is a plain dict, or an instance of the type that the question was asked with.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Any = None
    id: str | None = None
    """Names a url question, for `ctx.elicitation_complete`."""

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


class Root(Struct):
    """A folder or file that the client lets the server work in."""

    uri: str
    name: str | None = None


class RootsAnswer(Struct):
    roots: list[Root]
