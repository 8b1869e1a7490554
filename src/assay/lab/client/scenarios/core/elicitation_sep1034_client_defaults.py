"""The user is given a form and leaves every field as it is."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.defaults_form import FORM, MESSAGE
from assay.lab.harness.scripted_server.answer import Answer, Json
from assay.lab.harness.scripted_server.brief import Brief, call
from assay.lab.harness.scripted_server.channel import Channel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

TOOL = "test_client_elicitation_defaults"
SOON = 1.0
"""Seconds within which a client that listens on a GET stream has opened it."""


@official_scenario(
    "elicitation-sep1034-client-defaults",
    "A form is accepted as it is, with its defaults",
    brief=Brief(steps=(call(TOOL),), capabilities=("elicitation",), answers={"elicitation": "accept"}),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    async def ask(cycle: RequestCycle) -> Answer:
        question = {"message": MESSAGE, "requestedSchema": FORM}
        answer = await cycle.host.ask((await _place(cycle)).send, "elicitation/create", question)
        return {"content": [{"type": "text", "text": f"Elicitation completed: {_told(answer)}"}]}

    stage.host.sessions = stage.host.standalone = True
    stage.host.add_tool({"name": TOOL, "description": "Asks the user for what has defaults"}, ask)


async def _place(cycle: RequestCycle) -> Channel:
    """Where the client listens; the stream of its own call, where it listens nowhere else."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SOON):
            return await cycle.host.ear()
    return cycle.channel


def _told(answer: Json) -> object:
    return answer.get("result", answer.get("error"))
