"""Tools of the scripted server that send requests to the client before they answer."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.client.question import FORM, MODEL, ROOTS
from assay.lab.harness.sabotage.client_saboteur import EVERY, ClientSaboteur, behaviour
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import ScriptedServer

Json = dict[str, Any]
TOOL: Final = "asking"
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
ROOT: Final = {"uri": "file:///home/ada/project", "name": "Project"}
DICE: Final = {"name": "dice", "description": "Throw a die", "inputSchema": {"type": "object"}}


def a_prompt(**more: Any) -> tuple[str, Json]:
    """A request to the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": "Say hello"}}
    return MODEL, {"messages": [message], "maxTokens": 50, **more}


def call_asking_tool(*capabilities: str, **answers: Any) -> ClientScript:
    """List the tools and call `TOOL`, with these capabilities and answers."""
    return ClientScript(steps=(LIST_TOOLS, call_tool(TOOL)), capabilities=capabilities, answers=answers)


def add_asking_tool(
    server: ScriptedServer, *questions: tuple[str, Json], name: str = TOOL, state: str | None = None
) -> None:
    """Add a tool that sends all questions at once and completes when they are answered."""

    async def ask(cycle: RequestCycle) -> Answer:
        requests = {f"question-{number}": question for number, question in enumerate(questions, 1)}
        await cycle.inquire(requests, state)
        return {"content": [{"type": "text", "text": "thank you"}]}

    server.add_tool({"name": name}, ask)


def behaves(scenario: str, name: str, fault: str, breaks: str, **fields: Any) -> ClientSaboteur:
    """A client with other fields of `ClientBehaviour`, on every transport."""
    return behaviour(
        f"asking.{name}", fault, breaks=breaks, scenario=f"asking.{scenario}", transports=EVERY, **fields
    )
