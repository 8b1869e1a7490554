"""A small server with the profile, and what clients receive from it."""

from __future__ import annotations

from typing import Any

from assay import Contents, Context, Server, ToolError, ToolResult
from assay.model.content import Text
from assay.profile import Profile
from assay.profile.port import LedgerFailed, LedgerPosition, Record
from assay.revisions.registry import REVISIONS
from tests.driving.describing import DescribingClient
from tests.server.scripted import ask

EFFECTS, RETENTION, PROVENANCE, VERSION = (
    f"dev.assay/{name}" for name in ("effects", "retention", "provenance", "version")
)
DATES = [revision.date for revision in REVISIONS]
PER_REQUEST = DATES[-1]
SHARED = ToolResult([Text("mine")], meta={"own": 1})


class Book:
    """A ledger in memory, which refuses records once it is `full`."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.full = False
        self.torn = False

    def ready(self) -> None:
        if self.full:
            raise LedgerFailed("full")

    def append(self, record: Record, /) -> LedgerPosition:
        if self.torn:
            raise LedgerFailed("torn")
        self.records.append(record)
        return LedgerPosition(len(self.records), f"sha256:{len(self.records):064}")

    def close(self) -> None:
        pass


async def echo(message: str) -> str:
    return message


async def write(ctx: Context, text: str) -> str:
    ctx.effect("update", "notes/42", before=b"old", after=text.encode())
    return f"wrote {text}"


async def break_off(ctx: Context) -> str:
    ctx.effect("delete", "notes/42")
    raise ToolError("broke off")


async def shared() -> ToolResult:
    return SHARED


async def notes() -> str:
    return "é and more\n"


async def picture() -> bytes:
    return b"\x89PNG"


async def several(day: str) -> list[Contents]:
    return [Contents("file:///log/a.txt", text="a"), Contents("file:///log/b.txt", text="b", meta={"x": 1})]


async def review(code: str, language: str = "Python") -> str:
    return f"Review this {language}: {code}"


async def repeat(times: int) -> str:
    return "again " * times


def market(profile: Profile | None = None, **options: Any) -> Server:
    server = Server("market", "1.0.0", **options)
    server.tool(annotations={"readOnlyHint": True, "openWorldHint": False})(echo)
    server.tool(meta={RETENTION: {"tier": "short-30d"}})(write)
    server.tool(break_off)
    server.tool(shared)
    server.resource("file:///notes.txt", meta={RETENTION: {"tier": "legal-hold"}})(notes)
    server.resource("file:///picture.png", mime_type="image/png")(picture)
    server.resource("log://{day}")(several)
    server.prompt(version="1.2.0", meta={"own": 1})(review)
    server.prompt(repeat)
    server.use(profile or Profile())
    return server


async def answer(server: Server, date: str, method: str, **params: Any) -> Any:
    """The whole response in a revision; the newest describes itself, and official types validate it."""
    if date == PER_REQUEST:
        return await DescribingClient(server).request(method, params)
    return await ask(server, method, revision=date, **params)


async def result(server: Server, date: str, method: str, **params: Any) -> Any:
    return (await answer(server, date, method, **params))["result"]


async def summary(server: Server, tool: str, *, date: str = DATES[-2], **arguments: Any) -> Any:
    called = await result(server, date, "tools/call", name=tool, arguments=arguments)
    return called["_meta"][EFFECTS]
