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

LIST: Final = "tools/list"
SAME: Final = "the same again"
MOST_SAME: Final = 100
MOST: Final = 300
"""Empty pages after which the server ends the list: a client that read as many would read on."""

# --- what is asked


IN_VAIN: Final = ClientScript(steps=(optional(LIST_TOOLS), call_tool(AFTER)), may_fail=True, pages=True)


def _add_endless_list(server: ScriptedServer, cursor: Callable[[int], str], most: int) -> None:
    numbers = count(1)
    server.add_tool({"name": AFTER})

    @server.on(LIST)
    async def page(cycle: RequestCycle) -> Answer:
        number = next(numbers)
        more = {} if number > most else {"nextCursor": cursor(number)}
        return {"tools": server.items["tools"] if number == 1 else [], **more}


@client_scenario("Serve a list without end", script=IN_VAIN, exercises=("hostile.endless-lists",))
async def drive_ever_more_pages(stage: ClientStage) -> None:
    _add_endless_list(stage.server, lambda number: f"page-{number + 1}", MOST)


@client_scenario(
    "Return the same cursor again and again", script=IN_VAIN, exercises=("hostile.endless-lists",)
)
async def drive_same_cursor(stage: ClientStage) -> None:
    _add_endless_list(stage.server, lambda number: SAME, MOST_SAME)


@client_scenario(
    "Lose the session between two pages of a list",
    # The second step is for clients that do not list the tools again without one.
    script=ClientScript(
        steps=(optional(LIST_TOOLS), optional(LIST_TOOLS), call_tool(AFTER)), may_fail=True, pages=True
    ),
    exercises=("hostile.old-cursors",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session_between_pages(stage: ClientStage) -> None:
    server = stage.server
    server.sessions = True
    server.add_tool({"name": AFTER})

    @server.on(LIST)
    async def page(cycle: RequestCycle) -> Answer:
        if "cursor" in cycle.params:
            return {"tools": server.items["tools"]}
        cursor = f"of-{server.session}"
        if not server.memory.setdefault("forgot", False):
            server.memory["forgot"] = True
            server.session = "another"
        return {"tools": [], "nextCursor": cursor}


# --- how it is judged


@check("The client stops reading a list that has no end", requirements=("HOSTILE-10", "HOSTILE-11"))
def judge_endless_lists(trace: Trace) -> Iterator[Observation]:
    pages = list(trace.subject_exchanges(LIST))
    if not pages or not (calls_of(trace, AFTER) or has_ended(trace)):
        return
    requirement, read, most = "HOSTILE-11", pages, MOST
    if any((page.result or {}).get("nextCursor") == SAME for page in pages):
        read = [page for page in pages if page.params.get("cursor") == SAME]
        requirement, most = "HOSTILE-10", MOST_SAME
    expected, observed = f"an end before {most} pages", f"{len(read)} pages were read"
    yield observe(requirement, len(read) < most, *pages[-2:], expected=expected, observed=observed)


@check("Cursors are not kept across sessions", requirements=("PAG-07",), transports=HTTP_ONLY)
def judge_old_cursors(trace: Trace) -> Iterator[Observation]:
    lists = [
        (call, message) for call in trace.calls for message in call.request_messages if message.method == LIST
    ]
    issued = [(_next_cursor(call), call.session) for call, _ in lists]
    for call, message in lists:
        # The first session has no earlier one whose cursor could be used.
        if call.session is None or call.session == lists[0][0].session:
            continue
        cursor = message.params.get("cursor")
        origins = [session for issue, session in issued if issue is not None and issue == cursor]
        holds = not origins or call.session in origins
        expected, observed = "no cursor of an earlier session", f"cursor {cursor!r}"
        yield observe("PAG-07", holds, call, expected=expected, observed=observed)


def _next_cursor(call: Call) -> str | None:
    responses = (message for message in call.messages if message.is_response)
    cursor = next((response.result.get("nextCursor") for response in responses), None)
    return cursor if isinstance(cursor, str) else None


# --- what the checks must catch


@misbehaving("follows the same cursor without end", breaks="HOSTILE-10", scenario="hostile.same-cursor")
async def round_in_circles(client: ScriptedClient) -> None:
    await client.open()
    await client.request(LIST)
    for _ in range(MOST_SAME):
        await client.request(LIST, {"cursor": SAME})


BEHAVIOURS: Final = (
    behaviour(
        "hostile.reads-for-ever",
        "reads a list as long as it has a next page",
        breaks="HOSTILE-11",
        scenario="hostile.ever-more-pages",
        transports=ONE_CHANNEL,
        most_pages=2 * MOST,
    ),
    behaviour(
        "hostile.cursor-survives", "uses a cursor of a lost session", breaks="PAG-07", forgets_cursors=False
    ),
)
