"""Cached answers: reused while fresh, dropped when stale, never shared between users."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from assay.lab.client.auth.protected_server import CODE_GRANT, TOOL, Protection, protect
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call, Exchange
from assay.lab.harness.transport import HTTP_ONLY

from .altered_message import within
from .declaration import CLIENTS, client_scenario
from .evidence import AFTER, calls_of, endpoint_calls, has_ended
from .listen_client import LISTEN_SCRIPT, TOOLS_CHANGED, acknowledge, offer_changes

# --- how it is judged


FRESHNESS_LIST, SLOW = "tools/list", "slow"
SCRIPT: Final = ClientScript(steps=(LIST_TOOLS, call_tool(SLOW), LIST_TOOLS, call_tool(AFTER)))
PAUSE: Final = 0.5


def keep_for(stage: ClientStage, milliseconds: int) -> None:
    """The host's lists may be kept for so long, and its slow tool takes longer."""

    async def pause(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(PAUSE)
        return {"content": [{"type": "text", "text": "at last"}]}

    stage.server.hints = {"ttlMs": milliseconds, "cacheScope": "private"}
    stage.server.add_tool({"name": SLOW}, pause)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "What was kept under one token is not used under another",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(TOOL), LIST_TOOLS, call_tool(AFTER)), oauth=CODE_GRANT),
    exercises=("caching.another-token",),
    transports=HTTP_ONLY,
)
async def drive_another_token(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(
            scope="mcp:basic", scopes=("mcp:basic", "mcp:write"), needed_scopes={"tools/call": "mcp:write"}
        ),
    )
    stage.server.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    stage.server.add_tool({"name": AFTER})


CHANGES_PAUSE = 0.3


@client_scenario("A change ends what was kept", script=LISTEN_SCRIPT, exercises=("caching.changes",))
async def drive_changes(stage: ClientStage) -> None:
    @stage.server.on("subscriptions/listen")
    async def listen(cycle: RequestCycle) -> Answer:
        own = await acknowledge(cycle, CHANGES_PAUSE)
        cycle.server.add_tool({"name": "new"})
        await cycle.notify(TOOLS_CHANGED, own)
        await cycle.wait_for_disconnect()
        return DONE

    stage.server.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    offer_changes(stage.server)


QUESTION = {
    "mode": "form",
    "message": "Which part of it?",
    "requestedSchema": {"type": "object", "properties": {"part": {"type": "string", "default": "all"}}},
}
ONE, OTHER, ASKED = "test://one", "test://other", "test://asked"
READS = (ONE, OTHER, ASKED, ASKED)


@client_scenario(
    "What is kept is not used for another request",
    script=ClientScript(
        steps=(LIST_TOOLS, *(step("read_resource", uri=uri) for uri in READS), call_tool(AFTER)),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("caching.reuse",),
)
async def drive_reuse(stage: ClientStage) -> None:
    usual = stage.server.handlers[READ]

    @stage.server.on(READ)
    async def read(cycle: RequestCycle) -> Answer:
        if cycle.params.get("uri") == ASKED:
            await cycle.inquire({"part": ("elicitation/create", QUESTION)}, state="asked")
        return await usual(cycle)

    stage.server.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    for uri in (ONE, OTHER, ASKED):
        stage.server.add_resource(uri)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "A list that is stale at once is fetched again", script=SCRIPT, exercises=("caching.freshness",)
)
async def drive_stale_at_once(stage: ClientStage) -> None:
    keep_for(stage, 0)


@client_scenario(
    "A stale list is fetched again when it is wanted, and not before",
    script=SCRIPT,
    exercises=("caching.freshness",),
)
async def drive_stale_soon(stage: ClientStage) -> None:
    keep_for(stage, 100)


LIST = "tools/list"


@check("Private answers are not used under another token", requirements=("CA-11",), transports=HTTP_ONLY)
def judge_another_token(trace: Trace) -> Iterator[Observation]:
    served = [one for one in endpoint_calls(trace, "POST") if one.status == 200 and _token(one)]
    end = next((one for one in served if _calls(one, AFTER)), None)
    listed = [one for one in served if any(message.method == LIST for message in one.request_messages)]
    # Only who was served under two tokens, and wanted the list under each, shows anything.
    if end is None or not listed or _token(listed[0]) == _token(end):
        return
    again = [one for one in listed if _token(one) == _token(end)]
    expected, observed = f"{LIST} again under the new token", "what was kept under the old one"
    yield observe("CA-11", bool(again), listed[0], *again[:1], end, expected=expected, observed=observed)


def _token(call: Call) -> str | None:
    return call.sent.get("authorization")


def _calls(call: Call, tool: str) -> bool:
    return any(one.method == "tools/call" and one.params.get("name") == tool for one in call.request_messages)


CHANGED = "notifications/tools/list_changed"


@check("A change ends what was kept", requirements=("CA-12",))
def judge_changes(trace: Trace) -> Iterator[Observation]:
    told = [one for one in trace.messages if not one.by_subject and one.method == CHANGED]
    listed = list(trace.subject_exchanges("tools/list"))
    for change in told[:1]:
        before = [one for one in listed if one.request.frame.n < change.frame.n]
        later = [one for one in listed if one.request.frame.n > change.frame.n]
        if before and (later or has_ended(trace)):
            expected, observed = "the list to be fetched again after a change", "it was not"
            yield observe(
                "CA-12", bool(later), before[-1], change, *later[:1], expected=expected, observed=observed
            )


READ = "resources/read"


@check("An answer is not used for another request", requirements=("CA-06", "CA-07"))
def judge_reuse(trace: Trace) -> Iterator[Observation]:
    after = calls_of(trace, AFTER)[:1]
    if _read(trace, ONE) and (after or _read(trace, OTHER)):
        other = _read(trace, OTHER)
        expected, observed = f"{READ} of {OTHER}", "none: the answer of another was used"
        yield observe(
            "CA-06", bool(other), *_read(trace, ONE), *other, *after, expected=expected, observed=observed
        )
    asked = _read(trace, ASKED)
    retried = [one for one in asked if "inputResponses" in one.params and one.result is not None]
    if retried and after:
        since = retried[0].request.frame.n
        again = [one for one in asked if one.request.frame.n > since]
        expected, observed = f"{READ} of {ASKED} again", "none: the result of a retry was kept"
        yield observe(
            "CA-07", bool(again), retried[0], *again[:1], *after, expected=expected, observed=observed
        )


def _read(trace: Trace, uri: str) -> list[Exchange]:
    return [one for one in trace.subject_exchanges(READ) if one.params.get("uri") == uri]


ROWS = {0: "CA-08"}
POLLED = 3
"""Requests while nobody wants anything: as many make a poll."""


@check("Stale answers are fetched again on demand", requirements=("CA-08", "CA-09", "CA-10"))
def judge_freshness(trace: Trace) -> Iterator[Observation]:
    after = calls_of(trace, AFTER)[:1]
    slow = [one for one in calls_of(trace, SLOW) if one.answer is not None][:1]
    for exchange, end in ((slow[0], after[0]) for _ in after if slow):
        yield from _judged(trace, exchange, end)


def _judged(trace: Trace, slow: Exchange, after: Exchange) -> Iterator[Observation]:
    """Before the slow call the list was said to be stale at once, or soon; after it, it is wanted again."""
    assert slow.answer is not None
    begin, end, last = slow.request.frame.n, slow.answer.frame.n, after.request.frame.n
    listed = [one for one in trace.subject_exchanges(FRESHNESS_LIST)]
    during = [one for one in listed if begin < one.request.frame.n < end]
    later = [one for one in listed if end < one.request.frame.n < last]
    before = [one for one in listed if one.request.frame.n < begin]
    expected, observed = "no requests that nobody asked for", f"{len(during)} times {FRESHNESS_LIST}"
    yield observe("CA-10", len(during) < POLLED, slow, *during[:POLLED], expected=expected, observed=observed)
    if before and not during:
        row = ROWS.get((before[-1].result or {}).get("ttlMs", 0), "CA-09")
        expected, observed = f"{FRESHNESS_LIST} again, when it was stale", "none"
        yield observe(row, bool(later), before[-1], *later[:1], after, expected=expected, observed=observed)


# --- what the checks must catch


@misbehaving("what was kept under one token is used under another", breaks="CA-11", transports=HTTP_ONLY)
async def shares_all(client: ScriptedClient) -> None:
    await client.open()
    first, second, _, last = client.context["steps"]
    # Whoever has an answer already does not ask.
    await client.run_steps([first, second, last])


@misbehaving("the answer of one resource is used for another", breaks="CA-06")
async def one_for_another(client: ScriptedClient) -> None:
    await client.open()
    # Whoever has an answer already does not ask.
    await client.run_steps([step for step in client.context["steps"] if step.get("uri") != OTHER])


@misbehaving("the result of a retry is kept", breaks="CA-07")
async def keeps_retries(client: ScriptedClient) -> None:
    await client.open()
    steps = client.context["steps"]
    # Whoever has an answer already does not ask.
    await client.run_steps(
        [
            step
            for place, step in enumerate(steps)
            if place == 0 or step.get("uri") != ASKED or steps[place - 1].get("uri") != ASKED
        ]
    )


@on_received("a list that is stale at once is kept", breaks="CA-08", scenario="caching.stale-at-once")
def keeps_for_ever(message: Json, client: ScriptedClient) -> Json:
    if "ttlMs" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "ttlMs": 60_000})


@on_received("a list is kept longer than it may be", breaks="CA-09", scenario="caching.stale-soon")
def keeps_too_long(message: Json, client: ScriptedClient) -> Json:
    if "ttlMs" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "ttlMs": 60_000})


@on_received("a list is fetched whenever it is stale", breaks="CA-10", scenario="caching.stale-soon")
def polls(message: Json, client: ScriptedClient) -> Json:
    if "tools" in message.get("result", {}) and not client.memory.setdefault("polls", False):
        client.memory["polls"] = True
        client.task(_poll(client))
    return message


async def _poll(client: ScriptedClient) -> None:
    for _ in range(5):
        await asyncio.sleep(0.06)
        await client.ask("tools/list", {}, timeout=1.0)


BEHAVIOURS: Final = (
    behaviour(
        "caching.heeds-no-change",
        "a change does not end what was kept",
        breaks="CA-12",
        transports=CLIENTS,
        honours_changes=False,
    ),
)
