"""Results of the server's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET, Struct, field

from .content import Block, Contents, Role, Text
from .other_name import OtherName


class ToolResult(Struct, omit_defaults=True, rename="camel"):
    """The complete result of a tool call, for tools that set its parts themselves.

    Args:
        content: Content blocks for the model.
        structured: The structured content, which must match the tool's output schema.
        is_error: Whether the call failed.
        meta: The `_meta` of the result.
    """

    content: list[Block]
    structured: Any = field(name="structuredContent", default=None)
    # A factory, because a default would be left out, and the specification's examples say `false`.
    is_error: bool = field(default_factory=bool)
    meta: dict[str, Any] | None = field(name="_meta", default=None)

    @property
    def text(self) -> str:
        """All text of the content; empty if it has none."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    if not TYPE_CHECKING:  # names of fastmcp and of the official SDK
        data = OtherName("use structured, or client.call_as(Type, …)")
        structured_content = OtherName("use structured")
        structuredContent = OtherName("use structured")
        isError = OtherName("use is_error")


class ReadResult(Struct):
    contents: list[Contents]


class Message(Struct):
    """A message of a prompt or a sampling request, by the `user` or the `assistant`."""

    role: Role
    content: Block

    def __post_init__(self) -> None:
        if self.role not in ("user", "assistant"):
            raise ValueError(
                'the role of a message must be user or assistant, as in Message("user", Text(...)): '
                f"{self.role!r:.60}"
            )
        if isinstance(self.content, str | list):
            kind = type(self.content).__name__
            raise TypeError(f'a message has one content block, not {kind}: write Message("user", Text(...))')


class PromptResult(Struct, omit_defaults=True):
    """The complete result of a prompt, for prompts that set a description or `_meta`."""

    messages: list[Message]
    description: str | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Completion(Struct, omit_defaults=True, rename="camel"):
    """Suggested values for an argument, best first; at most 100 are sent.

    Args:
        values: The values.
        total: How many there are in all, if known.
        has_more: Whether there are more than these.
    """

    values: list[str]
    total: int | None = None
    has_more: bool | None = None


class CompleteResult(Struct):
    completion: Completion


class InputRequest(Struct):
    """A question to the client: a request without an id."""

    method: str
    params: Any = UNSET


class InputRequired(Struct, rename="camel"):
    """Asks the client to answer these questions and send the request again."""

    input_requests: dict[str, InputRequest]
    request_state: str


class Cache(Struct, frozen=True, rename="camel"):
    """How long a client may reuse a result, and whether shared caches may.

    Args:
        ttl_ms: Milliseconds from when the result was received.
        cache_scope: `public`, or `private` for results that depend on the caller.
    """

    ttl_ms: int = 0
    cache_scope: Literal["public", "private"] = "public"

    def __post_init__(self) -> None:
        if self.ttl_ms < 0:
            raise ValueError(f"ttl_ms must not be negative: {self.ttl_ms}")
        if self.cache_scope not in ("public", "private"):
            raise ValueError(f"cache_scope must be public or private: {self.cache_scope!r}")
