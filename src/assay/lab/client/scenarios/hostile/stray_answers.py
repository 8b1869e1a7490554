"""Answers that nobody waits for: under another id, before the request, and once more after the right one."""

from __future__ import annotations

from assay.lab.client.checks.hostile.stray_answers import AGAIN, EARLY, STRAY, TRUE
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import ECHO, WELL, add_shaped, answer_to, shaped
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import Turn
from assay.lab.harness.scripted_server.stage import Hosting


@client_scenario(
    "Answers that answer nothing do no harm",
    brief=Brief(steps=(LIST_TOOLS, call("first"), LIST_TOOLS, ECHO, call(AFTER)), may_fail=True),
    exercises=("hostile.stray-answers",),
)
async def drive(stage: Hosting) -> None:
    host = stage.host

    async def first(turn: Turn) -> Answer:
        """Then the client will list the tools, perhaps under the next id."""
        following = turn.id + 1 if isinstance(turn.id, int) else "1"
        await turn.send(_tools(turn, EARLY, following))
        return WELL

    add_shaped(host, TRUE)
    host.add_tool({"name": "first"}, first)

    @host.on("tools/list")
    async def tools(turn: Turn) -> Answer:
        await turn.send(_tools(turn, STRAY, "nobody-asked"))
        await turn.send(_tools(turn, STRAY, 987_654_321))
        await turn.send(answer_to(turn, {"tools": host.items["tools"]}))
        await turn.send(answer_to(turn, {"tools": shaped(AGAIN)}))
        await turn.channel.finish()
        return DONE


def _tools(turn: Turn, title: str, number: object) -> bytes:
    """It would do as an answer to either kind of request."""
    return answer_to(turn, turn.host.shaped("tools/list", {**WELL, "tools": shaped(title)}), number)
