"""What a server asks a client, as the handlers of a `Client` receive it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from .answer import SampledBlock
from .content import EmbeddedResource, ResourceLink, Role

Sampleable = SampledBlock | EmbeddedResource | ResourceLink


class SamplingMessage(Struct, rename="camel"):
    role: Role
    content: Sampleable | list[Sampleable]


class SamplingRequest(Struct, rename="camel", kw_only=True):
    """A server asks for an answer of the client's model."""

    messages: list[SamplingMessage]
    max_tokens: int
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: list[str] | None = None
    model_preferences: dict[str, Any] | None = None
    include_context: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


class ElicitationRequest(Struct, rename="camel", kw_only=True):
    """A server asks the user something: with a form, or by a page at `url`."""

    message: str
    mode: Literal["form", "url"] = "form"
    requested_schema: dict[str, Any] | None = None
    """The JSON Schema of the form."""
    url: str | None = None
    id: str | None = field(name="elicitationId", default=None)
    """The id of an elicitation by URL, in the revisions that announce its completion."""
