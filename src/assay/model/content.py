"""Content blocks of tool results, prompts and sampling messages."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field

Role = Literal["user", "assistant"]


class Annotations(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """Hints for the client: the intended audience, a priority from 0 to 1, the time of the last change."""

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
    """An icon, by its URL or `data:` URI."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["light", "dark"] | None = None


class Text(Struct, tag_field="type", tag="text", omit_defaults=True, rename="camel"):
    """Text content."""

    text: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Image(Struct, tag_field="type", tag="image", omit_defaults=True, rename="camel"):
    """Image content. `data` is the raw bytes of the image; they are sent in Base64."""

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Audio(Struct, tag_field="type", tag="audio", omit_defaults=True, rename="camel"):
    """Audio content. `data` is the raw bytes of the recording; they are sent in Base64."""

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ResourceLink(Struct, tag_field="type", tag="resource_link", omit_defaults=True, rename="camel"):
    """A link to a resource that the client may read."""

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
    """The contents of a resource: either `text`, or `blob` as raw bytes, which are sent in Base64."""

    uri: str
    text: str | None = None
    blob: bytes | None = None
    mime_type: str | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.blob is None):
            raise ValueError(f"contents need either text or blob: {self.uri}")


class EmbeddedResource(Struct, tag_field="type", tag="resource", omit_defaults=True, rename="camel"):
    """The contents of a resource, embedded in a message."""

    resource: Contents
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


Block = Text | Image | Audio | ResourceLink | EmbeddedResource
BLOCKS = (Text, Image, Audio, ResourceLink, EmbeddedResource)
