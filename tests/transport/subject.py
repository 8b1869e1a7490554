"""The server of the contract tests, with access to the state of its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from assay import Context, Server, ToolError
from assay.server.calls.context import Level

WATCHED = "test://watched"


class Subject:
    """`server`, and the state that its tools record."""

    def __init__(self, **options: Any) -> None:
        self.server = Server("subject", "1.2.3", **{"page_size": 4, **options})
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.release = asyncio.Event()
        self.answered: Any = None
        self.last_context: Context | None = None
        tools: list[Callable[..., Any]] = [
            self.add,
            self.refuse,
            self.crash,
            self.report,
            self.say,
            self.hold,
        ]
        tools += [self.hold_in_thread, self.sample, self.elicit, self.roots, self.touch, self.keep, self.meet]
        for tool in tools:
            self.server.tool(tool)
        self.server.resource(WATCHED)(self.watched)
        self.server.resource("notes://{name}", mime_type="text/markdown")(self.note)
        self.server.prompt(self.review)
        self.server.completion("notes://{name}", "name")(self.names)
        self._waiting = 0

    def add(self, a: int, b: int) -> int:
        return a + b

    async def refuse(self) -> str:
        raise ToolError("not today")

    async def crash(self) -> str:
        raise RuntimeError("secret detail")

    async def report(self, ctx: Context, steps: int = 3) -> str:
        for step in range(1, steps + 1):
            await ctx.progress(step, total=steps, message=f"step {step}")
        return "done"

    async def say(self, level: Level, text: str, ctx: Context) -> str:
        await ctx.log(level, text, logger="subject")
        return "said"

    async def hold(self, ctx: Context) -> str:
        """Wait until released or cancelled."""
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "released"

    def hold_in_thread(self, ctx: Context) -> str:
        ctx.wait(self._hold(ctx))
        return "released"

    async def _hold(self, ctx: Context) -> None:
        self.started.set()
        await self.release.wait()

    async def sample(self, prompt: str, ctx: Context) -> str:
        return (await ctx.sample(prompt, max_tokens=7)).text

    async def elicit(self, ctx: Context) -> str:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        self.answered = await ctx.elicit("Who are you?", form)
        return str(self.answered.action)

    async def roots(self, ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    async def touch(self, ctx: Context, uri: str = WATCHED) -> str:
        ctx.server.resource_updated(uri)
        return "touched"

    async def keep(self, ctx: Context) -> str:
        self.last_context = ctx
        return "kept"

    async def meet(self, parties: int, ctx: Context) -> str:
        """Return once so many calls run at the same time."""
        self._waiting += 1
        if self._waiting == parties:
            self.release.set()
        await self.release.wait()
        return "met"

    async def watched(self) -> str:
        return "watched"

    async def note(self, name: str) -> str:
        return f"# {name}"

    async def review(self, code: str, language: Literal["python", "perl", "rust"] = "python") -> str:
        return f"Review this {language}: {code}"

    async def names(self, value: str) -> list[str]:
        return ["alpha", "beta", "alphabet"]
