"""Tools that ask the client: its user, its model, its roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from assay import Context, Server

from .models import active_model


@dataclass
class Answer:
    name: str
    """What to call the user"""
    colour: Literal["red", "green", "blue"] = "blue"


async def ask_user(ctx: Context, question: Annotated[str, "What to ask"] = "Who are you?") -> str:
    """Asks the user to fill in a form"""
    asked = await ctx.elicit(question, Answer, key="user")
    if not asked.accepted or not isinstance(asked.content, Answer):
        return f"The user chose to {asked.action}"
    return f"{asked.content.name} likes {asked.content.colour}"


async def ask_model(ctx: Context, prompt: Annotated[str, "What to ask the model"]) -> str:
    """Asks the client's model, and hints at the one that `models/select` chose"""
    hints = {"hints": [{"name": active_model(ctx)}]}
    sampled = await ctx.sample(prompt, max_tokens=200, model_preferences=hints, key="model")
    return f"{sampled.model}: {sampled.text}"


async def ask_roots(ctx: Context) -> str:
    """Asks for the folders that the client lets the server work in"""
    roots = await ctx.roots(key="roots")
    return "\n".join(root.uri for root in roots) or "The client has no roots"


def register(server: Server) -> None:
    server.tool(title="Ask the User")(ask_user)
    server.tool(title="Ask the Model")(ask_model)
    server.tool(title="Ask for Roots")(ask_roots)
