"""The server: it finds and lends books, and knows which are overdue."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from assay import Context, Server, ToolError

BOOKS = ("Effi Briest", "Emma", "Middlemarch", "Persuasion")
PERIOD = 28 * 24 * 3600
"""Seconds until a book is due."""


@dataclass
class Reader:
    name: str


def make_server(*, clock: Callable[[], float] = time.time) -> Server:
    server = Server("library", "1.0.0", instructions="Find a book before you lend it.")
    due: dict[str, float] = {}

    @server.tool(annotations={"readOnlyHint": True})
    async def find(text: str) -> list[str]:
        """Find books by a part of their title."""
        return [title for title in BOOKS if text.lower() in title.lower()]

    @server.tool
    async def lend(title: str, ctx: Context) -> str:
        """Lend a book to the user."""
        if title not in BOOKS or title in due:
            raise ToolError(f"{title} is not there")
        reader = await ctx.elicit(f"Who borrows {title}?", Reader)
        if not reader.accepted:
            return "Nothing was lent."
        due[title] = clock() + PERIOD
        await ctx.log("info", f"{reader.data.name} has {title}")
        return f"{title} was lent to {reader.data.name}."

    @server.tool(annotations={"readOnlyHint": True})
    async def overdue() -> list[str]:
        """List the books that should be back."""
        return [title for title, moment in due.items() if moment < clock()]

    @server.tool(annotations={"readOnlyHint": True})
    async def blurb(title: str, ctx: Context) -> str:
        """Describe a book in one sentence."""
        answer = await ctx.sample(f"Describe {title} in one sentence.", max_tokens=100)
        return answer.text

    @server.resource("library://books", description="All titles.")
    async def books() -> str:
        return "\n".join(BOOKS)

    @server.prompt
    async def recommend(mood: str) -> str:
        """Recommend a book."""
        return f"Recommend a book of the library for a {mood} reader."

    return server


server = make_server()

if __name__ == "__main__":
    server.run()
