"""Tools of the host that ask the client something before they answer."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.host import Host
from assay.lab.harness.hosting.turn import Turn

from .questions import FORM, MODEL, ROOTS

Json = dict[str, Any]
A_FORM: Final[tuple[str, Json]] = (
    FORM,
    {
        "message": "Who are you?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "default": "Ada"}},
            "required": ["name"],
        },
    },
)
THE_ROOTS: Final[tuple[str, Json]] = (ROOTS, {})


def a_prompt(**more: Any) -> tuple[str, Json]:
    """A question for the client's model."""
    said = {"role": "user", "content": {"type": "text", "text": "Say hello"}}
    return MODEL, {"messages": [said], "maxTokens": 50, **more}


def add_asking(host: Host, name: str, *questions: tuple[str, Json], state: str | None = None) -> None:
    """A tool that asks all this at once, and is done with the answers."""

    async def ask(turn: Turn) -> Answer:
        wanted = {f"question-{number}": question for number, question in enumerate(questions, 1)}
        await turn.inquire(wanted, state)
        return {"content": [{"type": "text", "text": "thank you"}]}

    host.add_tool({"name": name}, ask)
