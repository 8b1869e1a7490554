"""Content for the client's revision: a block type that an older revision lacks is replaced by one that it
has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assay.model.content import Audio, Block, Contents, EmbeddedResource, ResourceLink, Text
from assay.model.result import Message, ToolResult
from assay.protocol.codec import encode
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision, Structured

ALL_KINDS: Final = frozenset().union(*(revision.content for revision in REVISIONS))
FULL: Final = frozenset(revision for revision in REVISIONS if revision.content == ALL_KINDS)
"""Revisions with every block type: their results need no inspection."""


def shape_result(result: ToolResult, revision: Revision) -> ToolResult:
    if revision.structured is Structured.ABSENT and result.structured is not None:
        # Without structured content, the text is all that the client gets.
        content = result.content or [Text(encode(result.structured).decode())]
        result = ToolResult(content, None, result.is_error, result.meta)
    if revision in FULL:
        return result
    content = [shape_block(block, revision) for block in result.content]
    return ToolResult(content, result.structured, result.is_error, result.meta)


def shape_messages(messages: list[Message], revision: Revision) -> list[Message]:
    if revision in FULL:
        return messages
    return [Message(message.role, shape_block(message.content, revision)) for message in messages]


def kind_of(block: Block) -> str:
    """The `type` of a block on the wire."""
    kind: str = getattr(block, "__struct_config__").tag  # noqa: B009 - a Struct's own attribute
    return kind


def shape_block(block: Block, revision: Revision) -> Block:
    kind = kind_of(block)
    if kind in revision.content:
        return block
    return SUBSTITUTES[kind](block)


def _audio_as_resource(block: Audio) -> Block:
    contents = Contents("urn:assay:audio", blob=block.data, mime_type=block.mime_type)
    return EmbeddedResource(contents, annotations=block.annotations)


def _link_as_text(block: ResourceLink) -> Block:
    label = block.title or block.name
    about = f" ({block.description})" if block.description else ""
    return Text(f"{label}: {block.uri}{about}", annotations=block.annotations)


SUBSTITUTES: Final[dict[str, Callable[[Any], Block]]] = {
    "audio": _audio_as_resource,
    "resource_link": _link_as_text,
}
