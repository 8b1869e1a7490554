"""Sessions do not replace authentication, and state belongs to one user."""

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
    on_response,
    scenario,
)
from assay.lab.harness.driver.choice import ASKING, matching_tools
from assay.lab.harness.driver.message_meta import param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import retry
from assay.lab.harness.driver.stage import open_admitted, try_open
from assay.lab.harness.need import A_SESSION, ANOTHER_USER, PROTECTED, Need
from assay.lab.harness.subject.bearer import BEARER, NONE, OTHER
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.authorization import calls_with, in_query, is_admitted, is_public, outcome_text
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.asking.question import ALL_CAPABILITIES, MAX_REQUESTS, Answers
from assay.lab.suite.http.sessions import MIN_DIFFERENCE, differing, new_session_id
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening, Revision

from .protected_fault import admits, is_metadata_request, lacks_token

# --- what is asked


def _asking_tools(facts: Facts) -> list[dict[str, Any]]:
    """Callable tools whose description mentions questions."""
    return [tool for tool in facts.callable_tools if tool in matching_tools(ASKING, facts)][:MAX_REQUESTS]


def _has_state(facts: Facts) -> bool:
    if BY_DATE[facts.revision].opening is Opening.HANDSHAKE:
        return facts.session
    return bool(_asking_tools(facts))


STATE: Final = Need(_has_state, "has neither a session nor a tool whose description mentions questions")


@scenario(
    "Use the session and the state of another user",
    needs=(PROTECTED, ANOTHER_USER, STATE),
    transports=HTTP_ONLY,
)
async def drive_another_user(stage: Stage) -> None:
    owner = await open_admitted(stage)
    # The control: the server admits the other user as such.
    await try_open(stage, OTHER)
    await _use_session(stage, owner, OTHER)
    await _use_state(stage, OTHER)
    await owner.request(stage.plain)


@scenario("Send requests without a token in an open conversation", needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_every_request(stage: Stage) -> None:
    owner = await open_admitted(stage)
    await _use_session(stage, owner, NONE)
    await _use_state(stage, NONE)
    # The owner's session must have survived the refused DELETE.
    await owner.request(stage.plain)


async def _use_session(stage: Stage, owner: Peer, bearer: str) -> None:
    """Send every kind of request in the owner's session with another token; DELETE comes last."""
    intruder = await stage.connect(bearer)
    intruder.http.session, intruder.http.version = owner.http.session, owner.http.version
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


async def _use_state(stage: Stage, bearer: str) -> None:
    """Retry the owner's request with another token, where clients carry the state of requests."""
    if stage.revision.opening is not Opening.PER_REQUEST:
        return
    owner = await stage.open(**ALL_CAPABILITIES)
    Answers(owner)
    for tool in _asking_tools(stage.facts):
        arguments = stage.facts.arguments_for(tool)
        result = (await owner.call(tool, arguments)).result
        if isinstance(result.get("requestState"), str):
            intruder = await stage.connect(bearer)
            intruder.capabilities = dict(ALL_CAPABILITIES)
            params = {"name": tool["name"], "arguments": arguments, **retry(owner, result)}
            await intruder.request("tools/call", params, headers=param_headers(tool, arguments))
            return


@scenario("Open four sessions", needs=(A_SESSION,), transports=HTTP_ONLY)
async def drive_session_ids(stage: Stage) -> None:
    for _ in range(4):
        await stage.open()


# --- how it is judged


@check("A session or state of another user is refused", requirements=("SEC-04",), transports=HTTP_ONLY)
def judge_another_user(trace: Trace) -> Iterator[Observation]:
    marked = {mark.connection for mark in trace.marks(BEARER)}
    owners = [call for call in trace.calls if call.request.connection not in marked]
    sessions = {call.session for call in owners} - {None}
    states = {state for call in owners for message in call.messages for state in _states(message.result)}
    for _, call in calls_with(trace, OTHER):
        if call.session in sessions or _sent_states(call) & states:
            refused = not (is_admitted(call) and _is_served(call))
            observed = f"{outcome_text(call)} for another user"
            yield observe("SEC-04", refused, call, expected="a refusal", observed=observed)


def _states(fields: dict[str, Any]) -> set[str]:
    state = fields.get("requestState")
    return {state} if isinstance(state, str) else set()


def _sent_states(call: Call) -> set[str]:
    return {state for message in call.request_messages for state in _states(message.params)}


def _is_served(call: Call) -> bool:
    """Whether the server used the state; asking all questions again is a refusal of the state."""
    complete = any(message.result.get("resultType") == "complete" for message in call.messages)
    return complete or not _sent_states(call)


@check("Every request is authorized", requirements=("SEC-01", "SEC-02"), transports=HTTP_ONLY)
def judge_every_request(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if is_public(call) or in_query(call):
            continue
        refused = not is_admitted(call)
        observed = f"{outcome_text(call)} without a token"
        yield observe("SEC-01", refused, call, expected="a refusal", observed=observed)
        if call.session is not None or any(
            "requestState" in message.params for message in call.request_messages
        ):
            yield observe("SEC-02", refused, call, expected="a refusal", observed=observed)


@check("Session ids are not predictable", requirements=("SEC-03",), transports=HTTP_ONLY)
def judge_session_ids(trace: Trace) -> Iterator[Observation]:
    ids = [(call, session) for call in trace.calls if (session := new_session_id(call)) is not None]
    for (call, session), (later_call, later) in combinations(ids, 2):
        yield observe(
            "SEC-03",
            differing(session, later) >= MIN_DIFFERENCE,
            call,
            later_call,
            expected="ids that are independent of each other",
            observed=f"{session!r} and {later!r}",
        )


# --- what the checks must catch


def _has_sessions(revision: Revision) -> bool:
    return revision.http.sessions


@admits("accepts the session of another user", breaks="SEC-04")
def session_for_all(request: Request, context: FaultContext) -> bool:
    return bool(request.header("mcp-session-id")) or "requestState" in context.params


@admits("opens a stream of another user's session", breaks="SEC-04", window=_has_sessions)
def streams_for_all(request: Request, context: FaultContext) -> bool:
    return request.method == "GET"


@admits("verifies only the first request", breaks="SEC-01")
def opening_only(request: Request, context: FaultContext) -> bool:
    return lacks_token(request) and context.method not in ("initialize", "server/discover")


@admits("opens a stream without a token", breaks="SEC-01", window=_has_sessions)
def streams_not_verified(request: Request, context: FaultContext) -> bool:
    return lacks_token(request) and request.method == "GET" and not is_metadata_request(context)


@admits("accepts a session id in place of a token", breaks="SEC-02")
def session_as_token(request: Request, context: FaultContext) -> bool:
    has_state = bool(request.header("mcp-session-id")) or "requestState" in context.params
    return lacks_token(request) and has_state


@on_response("numbers its sessions", breaks="SEC-03")
def sessions_in_a_row(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None and context.method == "initialize":
        number = context.memory["count"] = context.memory.get("count", 0) + 1
        response.set("Mcp-Session-Id", f"0f3c5a7e-session-{number:04}")
