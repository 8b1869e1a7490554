"""A small file system in memory, with files that can be edited."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Annotated, Final, Literal

from assay import Annotations, Context, ResourceNotFound, Server, ToolError

ROOT: Final = "file:///"
NOTES: Final = "file:///resources/notes.txt"
MAIN_RS: Final = "file:///project/src/main.rs"
DAILY: Final = "file:///notes/daily/{day}.md"
DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MOST_CHARACTERS: Final = 64 * 1024
"""Of a file written by `edit_resource`."""
# Without `destructiveHint`, which defaults to true: careful clients would not call a tool that declares it,
# and this one is here to be called.
HINTS: Final = {"idempotentHint": True, "openWorldHint": False}
DIAGRAM: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACgAAAATAQAAAADKOHKuAAAAJ0lEQVR42mP4DwIMmOQB5v8HmBnu//5//zc28geD/G+cshC9OEwG"
    "AAedVWyBRbv4AAAAAElFTkSuQmCC"
)
TODO: Final = b"1. Shake hands\n2. List the tools\n3. Call one\n"


@dataclass(frozen=True)
class File:
    title: str
    description: str
    mime_type: str
    data: bytes
    audience: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
    priority: float = 0.5

    @property
    def is_text(self) -> bool:
        return not self.mime_type.startswith("image/")


FILES: Final = MappingProxyType(
    {
        NOTES: File(
            "Notes",
            "Notes that change when they are edited",
            "text/plain",
            b"Remember the milk.\n",
            priority=0.8,
        ),
        "file:///resources/plans.md": File(
            "Plans", "What comes next", "text/markdown", b"# Plans\n\n- Test the client\n- Ship it\n"
        ),
        "file:///resources/diagram.png": File(
            "Diagram", "Two boxes and a line", "image/png", DIAGRAM, audience=("user",), priority=0.2
        ),
        "file:///resources/todo.txt": File("To do", "What is left to do", "text/plain", TODO, priority=1.0),
        "file:///notes/todo.txt": File("To do", "The same list, among the notes", "text/plain", TODO),
        "file:///data/custom.json": File(
            "Settings", "Data for the model", "application/json", b'{"units": "imperial"}\n', ("assistant",)
        ),
        MAIN_RS: File(
            "Rust Software Application Main File",
            "Primary application entry point",
            "text/x-rust",
            b'fn main() {\n    println!("Hello world!");\n}',
        ),
    }
)


class Files:
    """The files of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data = {uri: file.data for uri, file in FILES.items()}
        for uri, file in FILES.items():
            server.resources.add(
                uri,
                partial(self.read, uri),
                name=uri.removeprefix(ROOT),
                title=file.title,
                description=file.description,
                mime_type=file.mime_type,
                size=len(file.data),
                annotations=self._annotations(uri),
            )
        server.resource(DAILY, name="daily", title="Daily notes", mime_type="text/markdown")(daily)
        server.completion(DAILY, "day")(days)
        server.tool(title="Edit a Resource", annotations=HINTS)(self.edit_resource)

    def _annotations(self, uri: str) -> Annotations:
        file = FILES[uri]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Annotations(audience=list(file.audience), priority=file.priority, last_modified=now)

    async def read(self, uri: str) -> str | bytes:
        data = self._data[uri]
        return data.decode() if FILES[uri].is_text else data

    async def edit_resource(
        self,
        ctx: Context,
        text: Annotated[str, "The new content"],
        uri: Annotated[str, "The URI of a text resource"] = NOTES,
    ) -> str:
        """Changes a text resource and notifies its subscribers"""
        if uri not in FILES or not FILES[uri].is_text:
            raise ToolError(f"not a text resource of this server: {uri[:200]}")
        if len(text) > MOST_CHARACTERS:
            raise ToolError(f"text too long: limit {MOST_CHARACTERS} characters")
        before, self._data[uri] = self._data[uri], text.encode()
        ctx.effect("update", uri, kind="resource", reversible=True, before=before, after=self._data[uri])
        self._server.resources.describe(uri, size=len(self._data[uri]), annotations=self._annotations(uri))
        self._server.resource_updated(uri)
        await ctx.log("info", f"edited {uri}", logger="files")
        return f"Changed {uri}"


async def daily(day: str) -> str:
    """The notes of a day of the week"""
    if day not in DAYS:
        raise ResourceNotFound(DAILY.replace("{day}", day))
    return f"# {day.capitalize()}\n\nNothing happened.\n"


async def days() -> tuple[str, ...]:
    return DAYS
