"""A tool is listed and called."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.model.error import INVALID_PARAMS

NUMBER = {"type": "number"}
ADD = {
    "name": "add_numbers",
    "description": "Add two numbers together",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
}


@official_scenario(
    "tools_call",
    "A tool is called with the arguments that it takes",
    brief=Brief(steps=(LIST_TOOLS, call("add_numbers", a=5, b=3))),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    async def add(cycle: RequestCycle) -> Answer:
        given = [cycle.arguments.get(key) for key in ("a", "b")]
        numbers = [one for one in given if isinstance(one, int | float)]
        if len(numbers) != len(given):
            raise Refused(INVALID_PARAMS, "two numbers are wanted: a and b")
        return {"content": [{"type": "text", "text": f"The sum is {sum(numbers)}"}]}

    stage.host.add_tool(ADD, add)
