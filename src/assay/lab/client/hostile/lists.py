"""Lists that never end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_of, has_ended
from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import ScriptedServer
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY, ONE_CHANNEL

SAME: Final = "the same again"
MOST_SAME: Final = 100
MOST: Final = 300
"""Pages with nothing on them after which the host gives in: who has read so many would have read on."""
IN_VAIN: Final = ClientScript(steps=(optional(LIST_TOOLS), call_tool(AFTER)), may_fail=True)


def add_endless(server: ScriptedServer, cursor: Callable[[int], str], most: int) -> None:
    """Every page of tools leads to another, until there were more than enough."""
    numbers = count(1)
    server.add_tool({"name": AFTER})

    @server.on("tools/list")
    async def page(cycle: RequestCycle) -> Answer:
        number = next(numbers)
        more = {} if number > most else {"nextCursor": cursor(number)}
        return {"tools": server.items["tools"] if number == 1 else [], **more}


# --- what is asked


@client_scenario("A list without end is given up", script=IN_VAIN, exercises=("hostile.endless-lists",))
async def drive_ever_more_pages(stage: ClientStage) -> None:
    add_endless(stage.server, lambda number: f"page-{number + 1}", MOST)


@client_scenario(
    "A cursor that comes again and again leads nowhere", script=IN_VAIN, exercises=("hostile.endless-lists",)
)
async def drive_same_cursor(stage: ClientStage) -> None:
    add_endless(stage.server, lambda number: SAME, MOST_SAME)


@client_scenario(
    "A cursor ends with its session",
    # Who does not begin anew by itself is made to, by a second step.
    script=ClientScript(steps=(optional(LIST_TOOLS), optional(LIST_TOOLS), call_tool(AFTER)), may_fail=True),
    exercises=("hostile.old-cursors",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session_between_pages(stage: ClientStage) -> None:
    server = stage.server
    server.sessions = True
    server.add_tool({"name": AFTER})

    @server.on("tools/list")
    async def page(cycle: RequestCycle) -> Answer:
        if "cursor" in cycle.params:
            return {"tools": server.items["tools"]}
        cursor = f"of-{server.session}"
        if not server.memory.setdefault("forgot", False):
            server.memory["forgot"] = True
            server.session = "another"
        return {"tools": [], "nextCursor": cursor}


# --- how it is judged


ROUND, ON = "HOSTILE-10", "HOSTILE-11"


@check("No list is read for ever", requirements=(ROUND, ON))
def judge_endless_lists(trace: Trace) -> Iterator[Observation]:
    pages = list(trace.inquiries("tools/list"))
    if not pages or not (calls_of(trace, AFTER) or has_ended(trace)):
        return
    again = [one for one in pages if one.params.get("cursor") == SAME]
    same = any((one.result or {}).get("nextCursor") == SAME for one in pages)
    row, read, most = (ROUND, again, MOST_SAME) if same else (ON, pages, MOST)
    expected, observed = f"an end before {most} pages", f"{len(read)} pages were read"
    yield observe(row, len(read) < most, *pages[-2:], expected=expected, observed=observed)


ROW = "PAG-07"
LIST = "tools/list"


@check("Cursors are not kept across sessions", requirements=(ROW,), transports=HTTP_ONLY)
def judge_old_cursors(trace: Trace) -> Iterator[Observation]:
    lists = [(call, one) for call in trace.calls for one in call.asked if one.method == LIST]
    given = [(cursor, call.session) for call, _ in lists if (cursor := _given(call)) is not None]
    for call, message in lists:
        # In the first session there is no other whose cursor could be used.
        if call.session is None or call.session == lists[0][0].session:
            continue
        cursor = message.params.get("cursor")
        origins = [session for one, session in given if one == cursor]
        holds = not origins or call.session in origins
        expected, observed = "no cursor of an earlier session", f"cursor {cursor!r}"
        yield observe(ROW, holds, call, expected=expected, observed=observed)


def _given(call: Call) -> str | None:
    found = next((one.result.get("nextCursor") for one in call.messages if one.is_response), None)
    return found if isinstance(found, str) else None


# --- what the checks must catch


@misbehaving(
    "a page is read as often as the list leads to it", breaks="HOSTILE-10", scenario="hostile.same-cursor"
)
async def round_in_circles(client: ScriptedClient) -> None:
    await client.open()
    await client.request("tools/list")
    for _ in range(MOST_SAME):
        await client.request("tools/list", {"cursor": SAME})


BEHAVIOURS: Final = (
    behaviour(
        "hostile.reads-for-ever",
        "a list is read for as long as there is more",
        breaks="HOSTILE-11",
        scenario="hostile.ever-more-pages",
        transports=ONE_CHANNEL,
        most_pages=2 * MOST,
    ),
    behaviour(
        "hostile.cursor-survives",
        "a cursor of a lost session is used in the new one",
        breaks="PAG-07",
        forgets_cursors=False,
    ),
)
