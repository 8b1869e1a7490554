"""Content blocks: what tools return, what prompts and sampling messages hold."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field

Role = Literal["user", "assistant"]


class Annotations(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """Hints for the client: for whom a thing is, how much it matters, when it last changed."""

    audience: list[Role] | None = None
    priority: float | None = None
    last_modified: str | None = None

    def __post_init__(self) -> None:
        for role in self.audience or ():
            if role not in ("user", "assistant"):
                raise ValueError(f"audience must name user or assistant: {role!r}")
        if self.priority is not None and not 0.0 <= self.priority <= 1.0:
            raise ValueError(f"priority must be from 0 to 1: {self.priority}")
        if self.last_modified is not None:
            _check_timestamp(self.last_modified)


def _check_timestamp(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"last_modified must be an ISO 8601 time: {text!r}") from None


class Icon(Struct, omit_defaults=True, rename="camel"):
    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["light", "dark"] | None = None


class Text(Struct, tag_field="type", tag="text", omit_defaults=True, rename="camel"):
    text: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Image(Struct, tag_field="type", tag="image", omit_defaults=True, rename="camel"):
    """`data` is the picture's own bytes: they become Base64 on the wire."""

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Audio(Struct, tag_field="type", tag="audio", omit_defaults=True, rename="camel"):
    """`data` is the recording's own bytes: they become Base64 on the wire."""

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ResourceLink(Struct, tag_field="type", tag="resource_link", omit_defaults=True, rename="camel"):
    """Points to a resource that the client may read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Contents(Struct, omit_defaults=True, rename="camel"):
    """What is at a URI: either `text` or `blob` (bytes, Base64 on the wire)."""

    uri: str
    text: str | None = None
    blob: bytes | None = None
    mime_type: str | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.blob is None):
            raise ValueError(f"contents need either text or blob: {self.uri}")


class EmbeddedResource(Struct, tag_field="type", tag="resource", omit_defaults=True, rename="camel"):
    """A resource carried inside the message itself."""

    resource: Contents
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


Block = Text | Image | Audio | ResourceLink | EmbeddedResource
BLOCKS = (Text, Image, Audio, ResourceLink, EmbeddedResource)
