"""Tools that ask by their result: with a state to bring back, without one, and one that only seems to."""

from __future__ import annotations

from secrets import token_hex

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.client.fixtures.retried_tools import ECHO, NO_STATE, STATE, UNRELATED, UNTYPED
from assay.lab.harness.scripted_server.answer import Answer, Raw
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.server import Tool
from assay.lab.harness.scripted_server.stage import ClientStage

FORM = {
    "message": "Please confirm to continue",
    "requestedSchema": {
        "type": "object",
        "properties": {"confirmed": {"type": "boolean", "description": "Confirm?"}},
    },
}
DONE = {"content": [{"type": "text", "text": "done"}]}


@official_scenario(
    "sep-2322-client-request-state",
    "Questions in results are answered by another call, with what belongs to it and nothing else",
    brief=Brief(
        # A client may hold a server of this revision to its own rules, and refuse the last result.
        steps=(LIST_TOOLS, call(ECHO), call(NO_STATE), tried(call(UNTYPED))),
        capabilities=("elicitation",),
        answers={"elicitation": "accept", "before_answering": [call(UNRELATED)]},
    ),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    for name, tool in _TOOLS.items():
        definition = {"name": name, "inputSchema": {"type": "object", "properties": {}, "required": []}}
        stage.host.add_tool(definition, tool)


async def _echo(cycle: RequestCycle) -> Answer:
    await cycle.inquire({"confirm": ("elicitation/create", FORM)}, STATE % token_hex(8))
    return DONE


async def _no_state(cycle: RequestCycle) -> Answer:
    await cycle.inquire({"confirm": ("elicitation/create", FORM)})
    return DONE


async def _unrelated(cycle: RequestCycle) -> Answer:
    return DONE


async def _untyped(cycle: RequestCycle) -> Answer:
    """Without `resultType`, which then means that it is complete."""
    return Raw(encode({"jsonrpc": "2.0", "id": cycle.id, "result": DONE}))


_TOOLS: dict[str, Tool] = {ECHO: _echo, NO_STATE: _no_state, UNRELATED: _unrelated, UNTYPED: _untyped}
