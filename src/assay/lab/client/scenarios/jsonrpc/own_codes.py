"""Calls are refused with codes that are an implementation's own."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.own_codes import ODD
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

CODES = (-32000, -32001, -32003, -32004, -32019)
"""Each has meant something to somebody once."""


@client_scenario(
    "Codes of an implementation's own are errors like any other",
    brief=Brief(steps=(LIST_TOOLS, *(tried(call(ODD, code=code)) for code in CODES), call(AFTER))),
    exercises=("jsonrpc.own-codes",),
)
async def drive(stage: ClientStage) -> None:
    async def refuse(cycle: RequestCycle) -> Answer:
        code = cycle.arguments.get("code")
        raise Refused(code if isinstance(code, int) else CODES[0], "something of our own")

    stage.host.add_tool({"name": ODD}, refuse)
    stage.host.add_tool({"name": AFTER})
