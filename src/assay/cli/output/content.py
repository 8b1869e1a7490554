"""Results with content, on the terminal and in files: text, images, audio, resources."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.model.content import Audio, Contents, EmbeddedResource, Image, ResourceLink, Text
from assay.model.result import PromptResult, ToolResult
from assay.model.visible import visible

from .offer import pretty
from .stream import emit_bytes, say

SAVE: Final = "--output FILE saves it"
MOST_FILES: Final = 100
"""That one result may become."""


def result_text(result: ToolResult) -> str:
    """The content of a tool's result; without any, the structured content."""
    if not result.content and result.structured is not None:
        return pretty(result.structured)
    return "\n".join(map(_block, result.content))


def prompt_text(result: PromptResult) -> str:
    return "\n\n".join(f"{message.role}: {_block(message.content)}" for message in result.messages)


def contents_text(contents: Iterable[Contents]) -> str:
    return "\n".join(map(_contents, contents))


def _block(block: Any) -> str:
    match block:
        case Text(text):
            return text
        case Image() | Audio():
            kind = type(block).__name__.lower()
            return visible(f"[{kind}, {block.mime_type}, {len(block.data)} bytes; {SAVE}]")
        case ResourceLink():
            return visible(f"[resource {block.uri}: {block.title or block.name}; `assay read` reads it]")
        case EmbeddedResource():
            return _contents(block.resource)
    return f"[{type(block).__name__}]"


def _contents(contents: Contents) -> str:
    if contents.text is not None:
        return contents.text
    size = len(contents.blob or b"")
    return visible(f"[{contents.uri}, {contents.mime_type or 'binary'}, {size} bytes; {SAVE}]")


# Files.


def data_of(blocks: Iterable[Any]) -> Iterator[bytes]:
    """What a file would contain: the bytes of media and resources."""
    for block in blocks:
        match block:
            case Image() | Audio():
                yield block.data
            case EmbeddedResource(resource):
                yield from data_of([resource])
            case Contents():
                yield (
                    block.blob
                    if block.blob is not None
                    else (block.text or "").encode("utf-8", "surrogatepass")
                )


def save(blocks: list[Any], output: Path) -> None:
    """Write the data of a result to a file, several ones to `name-2.png` and so on; text if there is nothing
    else. `-` is standard output. Only the file that the user names is overwritten: how many there are is the
    server's choice.

    Raises:
        CommandFailed: there is nothing to write, or it cannot be written.
    """
    parts = list(data_of(blocks)) or [_text_of(blocks)]
    if not any(parts):
        raise CommandFailed(ExitCode.INCOMPLETE, "the result is empty: nothing was written")
    if str(output) == "-":
        emit_bytes(b"".join(parts))
        return
    if len(parts) > MOST_FILES:
        raise CommandFailed(ExitCode.INCOMPLETE, f"the result is {len(parts)} files, more than {MOST_FILES}")
    paths = [
        output,
        *(output.with_name(f"{output.stem}-{n}{output.suffix}") for n in range(2, len(parts) + 1)),
    ]
    existing = next((path for path in paths[1:] if os.path.lexists(path)), None)
    if existing is not None:
        problem = f"the result has several parts, and {existing} exists: nothing was written"
        raise CommandFailed(ExitCode.USAGE, problem, "delete it, or name another file")
    for path, data in zip(paths, parts, strict=True):
        _write(path, data, "wb" if path is output else "xb")
        say(f"written: {path} ({len(data)} bytes)")


def _text_of(blocks: list[Any]) -> bytes:
    text = "\n".join(block.text for block in blocks if isinstance(block, Text))
    return text.encode("utf-8", "surrogatepass")


def _write(path: Path, data: bytes, mode: str) -> None:
    try:
        with path.open(mode) as file:
            file.write(data)
    except OSError as error:
        problem = f"cannot write {path}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem, "name another file") from error
