"""Tools of the host that ask the client something before they answer."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.client.question import FORM, MODEL, ROOTS
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import ScriptedServer

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


def add_asking(
    host: ScriptedServer, name: str, *questions: tuple[str, Json], state: str | None = None
) -> None:
    """A tool that asks all this at once, and is done with the answers."""

    async def ask(cycle: RequestCycle) -> Answer:
        wanted = {f"question-{number}": question for number, question in enumerate(questions, 1)}
        await cycle.inquire(wanted, state)
        return {"content": [{"type": "text", "text": "thank you"}]}

    host.add_tool({"name": name}, ask)
