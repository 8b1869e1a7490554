"""Content blocks of tool results, prompts and sampling messages."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, StructMeta, field

from .media import FILE_BYTES, as_text, file_name, load, media_type, type_of_file, uri_of_file

if TYPE_CHECKING:
    from .media import FilePath

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


def block_type(block: Struct) -> str:
    """The `type` of a block in a message."""
    return str(block.__struct_config__.tag)


class Text(Struct, tag_field="type", tag="text", omit_defaults=True, rename="camel"):
    """Text content."""

    text: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)
    type = property(block_type)


class ComposedMeta(StructMeta):
    """The type of blocks whose constructor takes other arguments than their fields: `compose` turns them into
    these. Decoding does not call it, so a message cannot name a file to read."""

    if not TYPE_CHECKING:  # type checkers read `__init__`

        def __call__(cls, *arguments: Any, **options: Any) -> Any:
            return super().__call__(**cls.compose(*arguments, **options))


class Media(Struct, metaclass=ComposedMeta, omit_defaults=True, rename="camel"):
    """Base of `Image` and `Audio`: bytes and their media type.

    Create one from bytes, or from a file, which is read at once. Without `mime_type` and `format`, the type
    follows from the first bytes, or else from the name of the file.

    Args:
        data: The raw bytes.
        mime_type: Their media type, such as `image/png`.
        annotations: Hints for the client.
        meta: The `_meta` of the block.
        path: The file to read, instead of `data`.
        format: The last part of the media type, such as `png`, instead of `mime_type`.
        max_bytes: The largest file to read.

    Raises:
        TypeError: neither or both of `data` and `path`, or of `mime_type` and `format`, are passed.
        ValueError: the media type is unknown, or the file is too large or not a regular one.
        OSError: the file cannot be read.
    """

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)
    type = property(block_type)

    @classmethod
    def compose(
        cls,
        data: Any = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
        *,
        path: FilePath | None = None,
        format: str | None = None,
        max_bytes: int = FILE_BYTES,
    ) -> dict[str, Any]:
        content = load(cls.__name__, data, path, max_bytes)
        if mime_type is None:
            mime_type = media_type(cls.__name__.lower(), content, path, format)
        elif format is not None:
            raise TypeError(f"{cls.__name__} needs mime_type or format, not both")
        return {"data": content, "mime_type": mime_type, "annotations": annotations, "meta": meta}


class Image(Media, tag_field="type", tag="image"):
    """Image content, sent in Base64: `Image(path="plot.png")`, `Image(data)`, `Image(data, format="png")`."""

    if TYPE_CHECKING:

        def __init__(
            self,
            data: bytes | None = None,
            mime_type: str | None = None,
            annotations: Annotations | None = None,
            meta: dict[str, Any] | None = None,
            *,
            path: FilePath | None = None,
            format: str | None = None,
            max_bytes: int = FILE_BYTES,
        ) -> None: ...


class Audio(Media, tag_field="type", tag="audio"):
    """Audio content, sent in Base64: `Audio(path="talk.wav")`, `Audio(data)`, `Audio(data, format="wav")`."""

    if TYPE_CHECKING:

        def __init__(
            self,
            data: bytes | None = None,
            mime_type: str | None = None,
            annotations: Annotations | None = None,
            meta: dict[str, Any] | None = None,
            *,
            path: FilePath | None = None,
            format: str | None = None,
            max_bytes: int = FILE_BYTES,
        ) -> None: ...


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
    type = property(block_type)


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
    type = property(block_type)


class File(EmbeddedResource, metaclass=ComposedMeta):
    """A file, embedded in a message: `File(path="report.pdf")`, `File(data, "report.pdf")`.

    The media type follows from the end of the name, or else from the first bytes. Text in UTF-8 is sent as
    text, everything else in Base64. The URI has the name of the file, not its directory.

    Args:
        data: The raw bytes.
        name: The name of the file; by default that of `path`.
        annotations: Hints for the client.
        meta: The `_meta` of the block.
        path: The file to read, instead of `data`. It is read at once.
        mime_type: The media type.
        format: The end of a file name, such as `csv`, instead of `mime_type`.
        uri: The URI of the resource, such as one that the client can read.
        max_bytes: The largest file to read.

    Raises:
        TypeError: neither or both of `data` and `path`, or both of `mime_type` and `format`, are passed.
        ValueError: the file is too large or not a regular one.
        OSError: the file cannot be read.
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            data: bytes | None = None,
            name: str | None = None,
            annotations: Annotations | None = None,
            meta: dict[str, Any] | None = None,
            *,
            path: FilePath | None = None,
            mime_type: str | None = None,
            format: str | None = None,
            uri: str | None = None,
            max_bytes: int = FILE_BYTES,
        ) -> None: ...

    @classmethod
    def compose(
        cls,
        data: Any = None,
        name: str | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
        *,
        path: FilePath | None = None,
        mime_type: str | None = None,
        format: str | None = None,
        uri: str | None = None,
        max_bytes: int = FILE_BYTES,
    ) -> dict[str, Any]:
        content = load("File", data, path, max_bytes)
        if mime_type is not None and format is not None:
            raise TypeError("File needs mime_type or format, not both")
        label = name or ("file" if path is None else file_name(path))
        kind = mime_type or type_of_file(content, label, format)
        return {
            "resource": contents_of(uri or uri_of_file(label), content, kind),
            "annotations": annotations,
            "meta": meta,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (type(self), self.resource, self.annotations, self.meta)


def restore(kind: ComposedMeta, *fields: Any) -> Any:
    """A copied or unpickled block, from its fields."""
    return StructMeta.__call__(kind, *fields)


def contents_of(uri: str, data: bytes, mime_type: str) -> Contents:
    """Bytes as the contents of a resource: text if their media type says so and they are UTF-8."""
    text = as_text(data, mime_type)
    return Contents(uri, text, data if text is None else None, mime_type)


Block = Text | Image | Audio | ResourceLink | EmbeddedResource
BLOCKS = (Text, Image, Audio, ResourceLink, EmbeddedResource)
