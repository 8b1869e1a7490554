"""A list on several pages, each of them an event stream that is right, and unusual in another way."""

from __future__ import annotations

from assay.lab.client.checks.hostile.odd_events import STYLE, STYLES
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import answer_to
from assay.lab.harness.scripted_server.answer import DONE, Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import INVALID_PARAMS


@client_scenario(
    "Event streams are read as their standard says",
    brief=Brief(steps=(LIST_TOOLS, call(AFTER)), may_fail=True),
    exercises=("hostile.odd-events",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    host = stage.host
    styles = list(STYLES)
    host.add_tool({"name": AFTER})

    @host.on("tools/list")
    async def pages(cycle: RequestCycle) -> Answer:
        cursor = cycle.params.get("cursor", styles[0])
        if cursor not in styles:
            raise Refused(INVALID_PARAMS, "no such cursor")
        place = styles.index(cursor)
        more = {"nextCursor": styles[place + 1]} if place + 1 < len(styles) else {}
        page = answer_to(cycle, {"tools": [] if more else host.items["tools"], **more})
        wrong = answer_to(cycle, {"tools": []})
        host.mark(STYLE, style=cursor)
        await cycle.channel.raw(STYLES[cursor](page, wrong))
        await cycle.channel.finish()
        return DONE
