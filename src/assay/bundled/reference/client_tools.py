"""Tools that ask the client: its user, its model, or its roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from assay import Context, Server

from .models import active_model

READ_ONLY: Final = {"readOnlyHint": True}
"""The tools themselves change nothing, whatever the user answers."""
PAGE: Final = "https://assay.example/visit"


@dataclass
class Answer:
    name: str
    """What to call the user"""
    colour: Literal["red", "green", "blue"] = "blue"


async def ask_user(ctx: Context, question: Annotated[str, "What to ask"] = "Who are you?") -> str:
    """Asks the user to fill in a form"""
    elicited = await ctx.elicit(question, Answer, key="user")
    if not elicited.accepted:
        return f"The user chose to {elicited.action}"
    return f"{elicited.data.name} likes {elicited.data.colour}"


async def ask_model(ctx: Context, prompt: Annotated[str, "What to ask the model"]) -> str:
    """Asks the client's model, with a preference for the one chosen by `models/select`"""
    hints = {"hints": [{"name": active_model(ctx)}]}
    sampled = await ctx.sample(prompt, max_tokens=200, model_preferences=hints, key="model")
    return f"{sampled.model}: {sampled.text}"


async def ask_roots(ctx: Context) -> str:
    """Asks for the folders that the client allows the server to work in"""
    roots = await ctx.roots(key="roots")
    return "\n".join(root.uri for root in roots) or "The client has no roots"


async def ask_visit(ctx: Context) -> str:
    """Asks the user to open a page, and notifies the client when that is done"""
    elicited = await ctx.elicit_url("Please open this page and come back", PAGE, key="visit")
    if not elicited.accepted:
        return f"The user chose to {elicited.action}"
    if elicited.id is not None:
        await ctx.elicitation_complete(elicited.id)
    return "The user has opened the page"


def register(server: Server) -> None:
    server.tool(title="Ask the User", annotations=READ_ONLY, task="optional")(ask_user)
    server.tool(title="Ask the Model", annotations=READ_ONLY)(ask_model)
    server.tool(title="Ask for Roots", annotations=READ_ONLY)(ask_roots)
    server.tool(title="Ask for a Visit", annotations=READ_ONLY)(ask_visit)
