"""Results of the server's methods, in wire shape."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, field

from .content import Block, Contents, Role


class ToolResult(Struct, omit_defaults=True, rename="camel"):
    """The whole result of a tool call, for tools that want a say in every part of it."""

    content: list[Block]
    structured: Any = field(name="structuredContent", default=None)
    is_error: bool = False
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ReadResult(Struct):
    contents: list[Contents]


class Message(Struct):
    """One message of a prompt or of a sampling request."""

    role: Role
    content: Block

    def __post_init__(self) -> None:
        if self.role not in ("user", "assistant"):
            raise ValueError(f"a message is by the user or the assistant, not {self.role!r}")


class PromptResult(Struct, omit_defaults=True):
    """The whole result of a prompt, for prompts that also describe themselves."""

    messages: list[Message]
    description: str | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Completion(Struct, omit_defaults=True, rename="camel"):
    """Suggestions for one argument, best first; the server cuts them to 100."""

    values: list[str]
    total: int | None = None
    has_more: bool | None = None


class CompleteResult(Struct):
    completion: Completion


class InputRequest(Struct):
    """One question to the client: a request without an id."""

    method: str
    params: Any = UNSET


class InputRequired(Struct, rename="camel"):
    """The request goes on once the client has answered these questions."""

    input_requests: dict[str, InputRequest]
    request_state: str


class Cache(Struct, frozen=True, rename="camel"):
    """How long, and by whom, a result may be reused: `ttl_ms` from when it was received."""

    ttl_ms: int = 0
    cache_scope: Literal["public", "private"] = "public"

    def __post_init__(self) -> None:
        if self.ttl_ms < 0:
            raise ValueError(f"ttl_ms must not be negative: {self.ttl_ms}")
        if self.cache_scope not in ("public", "private"):
            raise ValueError(f"cache_scope must be public or private: {self.cache_scope!r}")
