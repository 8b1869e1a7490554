"""Between messages, the host says what is none."""

from __future__ import annotations

from assay.lab.client.checks.hostile.rubbish import NOT_UTF8, RUBBISH
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import WELL, Evil, trying
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import Transport


@client_scenario("What is no message is left alone", brief=trying(RUBBISH), exercises=("hostile.rubbish",))
async def drive(stage: ClientStage) -> None:
    for kind, rubbish in RUBBISH.items():
        # A text frame that is no text ends a WebSocket connection by the rules of that.
        told = kind != NOT_UTF8 or stage.transport is not Transport.WEBSOCKET
        stage.host.add_tool({"name": kind}, _saying(rubbish if told else b"no text"))
    stage.host.add_tool({"name": AFTER})


def _saying(rubbish: bytes) -> Evil:
    async def say(cycle: RequestCycle) -> Answer:
        await cycle.send(rubbish)
        return WELL

    return say
