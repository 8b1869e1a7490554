"""Cached answers: reused while fresh, dropped when stale, never shared between users."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.auth.protected_server import CODE_GRANT, TOOL, Protection, protect
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, behaviour, misbehaving, on_received
from assay.lab.harness.scenario import Scenario
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

LIST: Final = "tools/list"
READ: Final = "resources/read"
SLOW: Final = "slow"
FIRST, OTHER, ASKING = "test://one", "test://other", "test://asked"
LASTING: Final = {"ttlMs": 60_000, "cacheScope": "private"}

# --- what is asked


@client_scenario(
    "Require another token between two lists",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(TOOL), LIST_TOOLS, call_tool(AFTER)), oauth=CODE_GRANT),
    exercises=("caching.another-token",),
    transports=HTTP_ONLY,
)
async def drive_another_token(stage: ClientStage) -> None:
    scopes = ("mcp:basic", "mcp:write")
    needed = {"tools/call": "mcp:write"}
    await protect(stage, Protection(scope="mcp:basic", scopes=scopes, needed_scopes=needed))
    stage.server.hints = LASTING
    stage.server.add_tool({"name": AFTER})


PAUSE_BEFORE_CHANGE: Final = 0.3


@client_scenario("Announce a change of a cached list", script=LISTEN_SCRIPT, exercises=("caching.changes",))
async def drive_changes(stage: ClientStage) -> None:
    @stage.server.on("subscriptions/listen")
    async def listen(cycle: RequestCycle) -> Answer:
        own = await acknowledge(cycle, PAUSE_BEFORE_CHANGE)
        cycle.server.add_tool({"name": "new"})
        await cycle.notify(TOOLS_CHANGED, own)
        await cycle.wait_for_disconnect()
        return DONE

    stage.server.hints = LASTING
    offer_changes(stage.server)


QUESTION: Final = {
    "mode": "form",
    "message": "Which part of it?",
    "requestedSchema": {"type": "object", "properties": {"part": {"type": "string", "default": "all"}}},
}


@client_scenario(
    "Let the client read several resources, one of which asks for input",
    script=ClientScript(
        steps=(
            LIST_TOOLS,
            *(step("read_resource", uri=uri) for uri in (FIRST, OTHER, ASKING, ASKING)),
            call_tool(AFTER),
        ),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("caching.reuse",),
)
async def drive_reuse(stage: ClientStage) -> None:
    usual = stage.server.handlers[READ]

    @stage.server.on(READ)
    async def read(cycle: RequestCycle) -> Answer:
        if cycle.params.get("uri") == ASKING:
            await cycle.inquire({"part": ("elicitation/create", QUESTION)}, state="asked")
        return await usual(cycle)

    stage.server.hints = LASTING
    for uri in (FIRST, OTHER, ASKING):
        stage.server.add_resource(uri)
    stage.server.add_tool({"name": AFTER})


SECONDS: Final = 0.5
"""How long a call of `SLOW` takes: longer than the lists are fresh."""


def _serve_list(name: str, title: str, ttl: int) -> Scenario:
    async def pause(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(SECONDS)
        return {"content": [{"type": "text", "text": "at last"}]}

    async def drive(stage: ClientStage) -> None:
        stage.server.hints = {**LASTING, "ttlMs": ttl}
        stage.server.add_tool({"name": SLOW}, pause)
        stage.server.add_tool({"name": AFTER})

    script = ClientScript(steps=(LIST_TOOLS, call_tool(SLOW), LIST_TOOLS, call_tool(AFTER)))
    return client_scenario(title, id=name, script=script, exercises=("caching.freshness",))(drive)


FRESHNESS: Final = (
    _serve_list("caching.stale-at-once", "Serve a list that is stale at once", 0),
    _serve_list("caching.stale-soon", "Serve a list that is stale soon", 100),
)


# --- how it is judged


@check("Private results are not reused under another token", requirements=("CA-11",), transports=HTTP_ONLY)
def judge_another_token(trace: Trace) -> Iterator[Observation]:
    served = [call for call in endpoint_calls(trace, "POST") if call.status == 200 and _token(call)]
    end = next((call for call in served if _calls(call, AFTER)), None)
    lists = [call for call in served if any(message.method == LIST for message in call.request_messages)]
    # A client that had only one token shows nothing.
    if end is not None and lists and _token(lists[0]) != _token(end):
        again = [call for call in lists if _token(call) == _token(end)][:1]
        expected, observed = f"{LIST} again under the new token", "the list of the old one"
        yield observe("CA-11", bool(again), lists[0], *again, end, expected=expected, observed=observed)


def _token(call: Call) -> str | None:
    return call.sent.get("authorization")


def _calls(call: Call, tool: str) -> bool:
    return any(
        message.method == "tools/call" and message.params.get("name") == tool
        for message in call.request_messages
    )


@check("A change notification invalidates a cached list", requirements=("CA-12",))
def judge_changes(trace: Trace) -> Iterator[Observation]:
    own = (message for message in trace.messages if not message.by_subject)
    lists = list(trace.subject_exchanges(LIST))
    for change in [message for message in own if message.method == TOOLS_CHANGED][:1]:
        before = [page for page in lists if page.request.frame.n < change.frame.n][-1:]
        later = [page for page in lists if page.request.frame.n > change.frame.n][:1]
        if before and (later or has_ended(trace)):
            expected, observed = "the list to be fetched again after a change", "it was not"
            holds = bool(later)
            yield observe("CA-12", holds, *before, change, *later, expected=expected, observed=observed)


@check("A cached result is not used for another request", requirements=("CA-06", "CA-07"))
def judge_reuse(trace: Trace) -> Iterator[Observation]:
    after = calls_of(trace, AFTER)[:1]
    first, other, asking = (
        [read for read in trace.subject_exchanges(READ) if read.params.get("uri") == uri]
        for uri in (FIRST, OTHER, ASKING)
    )
    if first and (after or other):
        expected, observed = f"{READ} of {OTHER}", "none: the result of another was used"
        evidence = (*first, *other, *after)
        yield observe("CA-06", bool(other), *evidence, expected=expected, observed=observed)
    retries = [read for read in asking if "inputResponses" in read.params and read.result is not None][:1]
    for retry in retries if after else ():
        again = [read for read in asking if read.request.frame.n > retry.request.frame.n][:1]
        expected, observed = f"{READ} of {ASKING} again", "none: the result of a retry was cached"
        yield observe("CA-07", bool(again), retry, *again, *after, expected=expected, observed=observed)


POLLS: Final = 3
"""Requests that nothing caused: as many are polling."""


@check("Stale results are fetched again on demand", requirements=("CA-08", "CA-09", "CA-10"))
def judge_freshness(trace: Trace) -> Iterator[Observation]:
    for after in calls_of(trace, AFTER)[:1]:
        for slow in [call for call in calls_of(trace, SLOW) if call.answer is not None][:1]:
            yield from _judge_freshness(trace, slow, after)


def _judge_freshness(trace: Trace, slow: Exchange, after: Exchange) -> Iterator[Observation]:
    """The list before the slow call is stale when the client needs it after that call."""
    assert slow.answer is not None
    begin, end, last = slow.request.frame.n, slow.answer.frame.n, after.request.frame.n
    lists = list(trace.subject_exchanges(LIST))
    before = [page for page in lists if page.request.frame.n < begin][-1:]
    during = [page for page in lists if begin < page.request.frame.n < end]
    later = [page for page in lists if end < page.request.frame.n < last][:1]
    expected, observed = "no polling", f"{len(during)} times {LIST}"
    yield observe("CA-10", len(during) < POLLS, slow, *during[:POLLS], expected=expected, observed=observed)
    for page in before if not during else ():
        requirement = "CA-09" if (page.result or {}).get("ttlMs", 0) else "CA-08"
        expected = f"{LIST} again, when it was stale"
        yield observe(requirement, bool(later), page, *later, after, expected=expected, observed="none")


# --- what the checks must catch


def _omits_step(name: str, fault: str, breaks: str, omitted: int, **options: Any) -> ClientSaboteur:
    """A client that answers one of its steps from its cache."""

    async def behave(client: ScriptedClient) -> None:
        await client.open()
        steps = client.context["steps"]
        await client.run_steps([*steps[:omitted], *steps[omitted + 1 :]])

    return misbehaving(fault, id=name, breaks=breaks, **options)(behave)


REUSE: Final = (
    _omits_step(
        "caching.shares-all", "reuses a private list under another token", "CA-11", 2, transports=HTTP_ONLY
    ),
    _omits_step("caching.one-for-another", "uses the result of one resource for another", "CA-06", 2),
    _omits_step("caching.keeps-retries", "caches the result of a retry", "CA-07", 4),
)


def _keep(message: Json, client: ScriptedClient) -> Json:
    if "ttlMs" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "ttlMs": 60_000})


STALE: Final = tuple(
    on_received(fault, id=f"caching.{name}", breaks=breaks, scenario=f"caching.{scenario}")(_keep)
    for name, fault, breaks, scenario in (
        ("keeps-for-ever", "reuses a list that is stale at once", "CA-08", "stale-at-once"),
        ("keeps-too-long", "reuses a stale list", "CA-09", "stale-soon"),
    )
)


@on_received("fetches a list whenever it is stale", breaks="CA-10", scenario="caching.stale-soon")
def polls(message: Json, client: ScriptedClient) -> Json:
    if "tools" in message.get("result", {}) and not client.memory.setdefault("polls", False):
        client.memory["polls"] = True
        client.task(_poll(client))
    return message


async def _poll(client: ScriptedClient) -> None:
    for _ in range(5):
        await asyncio.sleep(0.06)
        await client.ask(LIST, {}, timeout=1.0)


KEEPS: Final = behaviour(
    "caching.heeds-no-change",
    "keeps a list after its change",
    breaks="CA-12",
    transports=CLIENTS,
    honours_changes=False,
)
