"""Answers that nobody waits for: under another id, before the request, and once more after the right one."""

from __future__ import annotations

from assay.lab.client.checks.hostile.stray_answers import AGAIN, EARLY, STRAY, TRUE
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import ECHO, WELL, add_shaped, answer_to, shaped
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "Answers that answer nothing do no harm",
    brief=Brief(steps=(LIST_TOOLS, call("first"), LIST_TOOLS, ECHO, call(AFTER)), may_fail=True),
    exercises=("hostile.stray-answers",),
)
async def drive(stage: ClientStage) -> None:
    host = stage.host

    async def first(cycle: RequestCycle) -> Answer:
        """Then the client will list the tools, perhaps under the next id."""
        following = cycle.id + 1 if isinstance(cycle.id, int) else "1"
        await cycle.send(_tools(cycle, EARLY, following))
        return WELL

    add_shaped(host, TRUE)
    host.add_tool({"name": "first"}, first)

    @host.on("tools/list")
    async def tools(cycle: RequestCycle) -> Answer:
        await cycle.send(_tools(cycle, STRAY, "nobody-asked"))
        await cycle.send(_tools(cycle, STRAY, 987_654_321))
        await cycle.send(answer_to(cycle, {"tools": host.items["tools"]}))
        await cycle.send(answer_to(cycle, {"tools": shaped(AGAIN)}))
        await cycle.channel.finish()
        return DONE


def _tools(cycle: RequestCycle, title: str, number: object) -> bytes:
    """It would do as an answer to either kind of request."""
    return answer_to(cycle, cycle.host.shaped("tools/list", {**WELL, "tools": shaped(title)}), number)
