"""A server as users write it: it asks its clients, and does not depend on their revisions."""

from __future__ import annotations

from dataclasses import dataclass

from assay import Context, Server, ToolError

server = Server("travel", "1.0")
booked: list[str] = []


@dataclass
class Traveller:
    name: str
    children: int = 0


@dataclass
class Confirmation:
    agreed: bool


@server.tool
async def book(city: str, ctx: Context) -> str:
    """Book a journey: ask who travels, have a greeting written, and ask for an agreement."""
    traveller = await ctx.elicit(f"Who travels to {city}?", Traveller)
    if not traveller.accepted:
        raise ToolError("no travellers")
    reference = await ctx.once("reference", lambda: reserve(city))
    greeting = await ctx.sample(f"Greet {traveller.content.name} in {city}", max_tokens=50)
    agreed = await ctx.elicit(f"Book {reference}?", Confirmation)
    if not (agreed.accepted and agreed.content.agreed):
        return f"{reference} not booked"
    return (
        f"{greeting.text} {reference} for {traveller.content.name} and {traveller.content.children} children"
    )


def reserve(city: str) -> str:
    booked.append(city)
    return f"{city}-{len(booked)}"


@server.tool
def count_reservations() -> int:
    return len(booked)


@server.prompt
async def itinerary(city: str, ctx: Context) -> str:
    """Ask for the style before the prompt is written."""
    traveller = await ctx.elicit("Which person is it for?", Traveller)
    return f"Plan {city} for {traveller.content.name}" if traveller.accepted else f"Plan {city}"


@server.resource("diary://{city}", mime_type="text/plain")
async def diary(city: str, ctx: Context) -> str:
    """Ask who reads before the page is opened."""
    agreed = await ctx.elicit(f"Open the diary of {city}?", Confirmation)
    return f"{city}: {'sun' if agreed.accepted and agreed.content.agreed else 'closed'}"


if __name__ == "__main__":
    server.run()
