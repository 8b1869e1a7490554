"""A list on pages of odd sizes, one of them empty, with cursors that mean nothing to anybody else."""

from __future__ import annotations

from typing import Final

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.model.error import INVALID_PARAMS
from assay.revisions.revision import Opening

LAST: Final = "last"
SIZES: Final = (1, 3, 0, 2, 1)
CURSORS: Final = ("b64==", '{"page": 2}', "two words/ü?&", "00010")


@client_scenario(
    "A list is read to its end, whatever its pages are like",
    brief=Brief(steps=(LIST_TOOLS, call(LAST))),
    exercises=("utilities.cursors",),
)
async def drive(stage: ClientStage) -> None:
    host = stage.host
    names = [*(f"tool-{number}" for number in range(1, sum(SIZES))), LAST]
    for name in names:
        host.add_tool({"name": name})
    # An empty cursor is one, too, in the revisions that say so.
    empty = stage.revision.opening is Opening.PER_REQUEST
    cursors: tuple[str | None, ...] = (None, *(("",) if empty else CURSORS[:1]), *CURSORS[1:])

    @host.on("tools/list")
    async def pages(cycle: RequestCycle) -> Answer:
        cursor = cycle.params.get("cursor")
        if cursor not in cursors:
            raise Refused(INVALID_PARAMS, "no such cursor")
        place = cursors.index(cursor)
        begin = sum(SIZES[:place])
        more = {} if place + 1 == len(cursors) else {"nextCursor": cursors[place + 1]}
        return {"tools": host.items["tools"][begin : begin + SIZES[place]], **more}
