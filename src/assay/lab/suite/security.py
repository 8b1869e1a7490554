"""Security considerations: sessions are no authentication, and belong to one user."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_response,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import ASKING, tools_that
from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import A_SESSION, ANOTHER_USER, PROTECTED, Need
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS
from assay.lab.harness.subject.bearer import BEARER, NONE, OTHER
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.admission import calls_with, in_query, is_let_in, is_public, told
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.asking.question import EVERYTHING, MOST, Interviewee
from assay.lab.suite.http.sessions import GUESSABLE, differing, minted
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

from .protected_fault import as_first, is_document, lacks_token, remember_first


def _asking_tools(facts: Facts) -> list[dict[str, Any]]:
    """Those that only read, so that they can be asked to the end."""
    return [tool for tool in facts.read_only_tools if tool in tools_that(ASKING, facts)][:MOST]


def _keeps_something(facts: Facts) -> bool:
    if BY_DATE[facts.revision].opening is Opening.HANDSHAKE:
        return facts.session
    return bool(_asking_tools(facts))


SOMETHING_KEPT: Final = Need(_keeps_something, "has neither a session nor a tool that speaks of asking")


async def intrude(stage: Stage, owner: Peer, bearer: str) -> None:
    """Everything that can be said in the owner's conversation, the end of it last."""
    intruder = await _intruder(stage, owner, bearer)
    await intruder.request(stage.plain)
    if "tools" in stage.facts.capabilities:
        await intruder.request("tools/list")
    if stage.revision.opening is Opening.PER_REQUEST:
        return
    await intruder.notify("notifications/roots/list_changed")
    if intruder.http.session is None:
        return
    for after in (None, "1"):
        stream = await intruder.http.listen(after=after)
        await stream.settled(intruder.patience)
    ending = await intruder.http.call("DELETE", headers=intruder.http.session_headers())
    await ending.settled(intruder.patience)


async def _intruder(stage: Stage, owner: Peer, bearer: str) -> Peer:
    intruder = await stage.connect(bearer)
    intruder.http.session, intruder.http.version = owner.http.session, owner.http.version
    return intruder


async def intrude_with_state(stage: Stage, bearer: str) -> None:
    """Go on with a request of somebody else, where its state is in the hands of clients."""
    if stage.revision.opening is not Opening.PER_REQUEST:
        return
    owner = await stage.open(**EVERYTHING)
    Interviewee(owner)
    for tool in _asking_tools(stage.facts):
        arguments = arguments_for(tool)
        asked = (await owner.call(tool, arguments)).result
        if isinstance(asked.get("requestState"), str):
            again = {"name": tool["name"], "arguments": arguments, **retry(owner, asked)}
            return await _go_on(stage, tool, again, bearer)


async def _go_on(stage: Stage, tool: dict[str, Any], params: dict[str, Any], bearer: str) -> None:
    intruder = await stage.connect(bearer)
    intruder.capabilities = dict(EVERYTHING)
    headers = param_headers(tool, params["arguments"])
    await intruder.request("tools/call", params, headers=headers)


# --- what is asked


@scenario(
    "What is kept for another user",
    exercises=("security.another-user",),
    needs=(PROTECTED, ANOTHER_USER, SOMETHING_KEPT),
    transports=HTTP_ONLY,
)
async def drive_another_user(stage: Stage) -> None:
    owner = await come_in(stage)
    # The control: the other user is welcome, too.
    await try_open(stage, OTHER)
    await intrude(stage, owner, OTHER)
    await intrude_with_state(stage, OTHER)
    await owner.request(stage.plain)


@scenario(
    "Requests without a token in an open conversation",
    exercises=("security.every-request",),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive_every_request(stage: Stage) -> None:
    owner = await come_in(stage)
    await intrude(stage, owner, NONE)
    await intrude_with_state(stage, NONE)
    # The session is still the owner's: whoever is refused has not ended it.
    await owner.request(stage.plain)


SESSIONS = 4


@scenario(
    "Sessions one after the other",
    exercises=("security.session-ids",),
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
)
async def drive_session_ids(stage: Stage) -> None:
    for _ in range(SESSIONS):
        await stage.open()


# --- how it is judged


COMPLETE = "complete"


@check("A session or state of another user is refused", requirements=("SEC-04",), transports=HTTP_ONLY)
def judge_another_user(trace: Trace) -> Iterator[Observation]:
    marked = {mark.connection for mark in trace.marks(BEARER)}
    owners = [call for call in trace.calls if call.request.connection not in marked]
    sessions = {call.session for call in owners} - {None}
    states = {state for call in owners for state in given_out(call)}
    for _, call in calls_with(trace, OTHER):
        if call.session in sessions or brought(call) & states:
            refused = not (is_let_in(call) and is_served(call))
            seen = f"{told(call)} for another user"
            yield observe("SEC-04", refused, call, expected="a refusal", observed=seen)


def given_out(call: Call) -> set[str]:
    found = (message.result.get("requestState") for message in call.messages)
    return {state for state in found if isinstance(state, str)}


def brought(call: Call) -> set[str]:
    found = (message.params.get("requestState") for message in call.asked)
    return {state for state in found if isinstance(state, str)}


def is_served(call: Call) -> bool:
    """Whether state was taken as the user's own; who asks everything again has not."""
    return not brought(call) or any(one.result.get("resultType") == COMPLETE for one in call.messages)


@check("Every request is verified", requirements=("SEC-01", "SEC-02"), transports=HTTP_ONLY)
def judge_every_request(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if is_public(call) or in_query(call):
            continue
        refused = not is_let_in(call)
        seen = f"{told(call)} without a token"
        yield observe("SEC-01", refused, call, expected="a refusal", observed=seen)
        if call.session is not None or brings_state(call):
            yield observe("SEC-02", refused, call, expected="a refusal", observed=seen)


def brings_state(call: Call) -> bool:
    return any("requestState" in message.params for message in call.asked)


@check("Session ids are not deterministic", requirements=("SEC-03",), transports=HTTP_ONLY)
def judge_session_ids(trace: Trace) -> Iterator[Observation]:
    given = [(call, value) for call in trace.calls if (value := minted(call)) is not None]
    for (one, first), (other, second) in combinations(given, 2):
        yield observe(
            "SEC-03",
            differing(first, second) >= GUESSABLE,
            one,
            other,
            expected="ids that have nothing to do with each other",
            observed=f"{first!r} and {second!r}",
        )


# --- what the checks must catch


@on_call("a session of another user is taken", breaks="SEC-04", server=WITH_TOKENS)
def session_for_all(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.header("mcp-session-id") or "requestState" in context.params:
        as_first(request, context)


@on_call(
    "a stream of another user is opened",
    breaks="SEC-04",
    server=WITH_TOKENS,
    window=lambda revision: revision.http.sessions,
)
def streams_for_all(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.method == "GET":
        as_first(request, context)


@on_call("requests after the first are not verified", breaks="SEC-01", server=WITH_TOKENS)
def opening_only(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and context.method not in ("initialize", "server/discover"):
        as_first(request, context)


@on_call(
    "a stream is opened without a token",
    breaks="SEC-01",
    server=WITH_TOKENS,
    window=lambda revision: revision.http.sessions,
)
def streams_not_verified(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and request.method == "GET" and not is_document(context):
        as_first(request, context)


@on_call("a session id stands for a token", breaks="SEC-02", server=WITH_TOKENS)
def session_as_token(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and (request.header("mcp-session-id") or "requestState" in context.params):
        as_first(request, context)


@on_response("session ids are counted", breaks="SEC-03")
def sessions_in_a_row(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None and context.method == "initialize":
        number = context.memory["count"] = context.memory.get("count", 0) + 1
        response.set("Mcp-Session-Id", f"0f3c5a7e-session-{number:04}")
