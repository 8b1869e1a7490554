"""HTTP sessions: named in every request, ended, and replaced when lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import INITIALIZE, describes_itself, endpoint_calls, has_ended
from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

# --- what is asked


@client_scenario(
    "A session is named in every request, and ended",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work"))),
    exercises=("http.session-named", "http.session-ended", "http.agreed-version"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session(stage: ClientStage) -> None:
    stage.server.sessions = stage.server.standalone = True
    stage.server.add_tool({"name": "work"})


@client_scenario(
    "A session that is not known any more is begun anew",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("work", number=1), call_tool("work", number=2)), may_fail=True
    ),
    exercises=("http.session-lost",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session_lost(stage: ClientStage) -> None:
    async def work(cycle: RequestCycle) -> Answer:
        if not cycle.server.memory.setdefault("forgot", False):
            cycle.server.memory["forgot"] = True
            cycle.server.session = "another"
        return {"content": [{"type": "text", "text": "done"}]}

    stage.server.sessions = True
    stage.server.add_tool({"name": "work"}, work)


# --- how it is judged


@check("A lost session is begun anew", requirements=("HTTP-42",), transports=HTTP_ONLY)
def judge_session_lost(trace: Trace) -> Iterator[Observation]:
    posts = list(endpoint_calls(trace, "POST"))
    for call in posts:
        if call.status != 404 or call.session is None or opens(call):
            continue
        again = next((one for one in posts if opens(one) and one.request.n > call.request.n), None)
        if again is None and not has_ended(trace):
            continue
        if again is None:
            observed = "none"
        else:
            observed = "one without it" if again.session is None else f"one with session {again.session}"
        yield observe(
            "HTTP-42",
            again is not None and again.session is None,
            call,
            *(() if again is None else (again,)),
            expected="an `initialize` without a session id",
            observed=observed,
        )


SESSION = "mcp-session-id"


@check("Requests name their session", requirements=("HTTP-38",), everywhere=True, transports=HTTP_ONLY)
def judge_session_named(trace: Trace) -> Iterator[Observation]:
    given = dict(issued(trace))
    for call in endpoint_calls(trace):
        known = [session for session, since in given.items() if since < call.request.n]
        if known and not opens(call) and not any(map(describes_itself, call.request_messages)):
            expected, observed = f"Mcp-Session-Id: {known[-1]}", f"{call.session}"
            yield observe("HTTP-38", call.session in known, call, expected=expected, observed=observed)


def opens(call: Call) -> bool:
    return any(one.method == INITIALIZE for one in call.request_messages)


def issued(trace: Trace) -> Iterator[tuple[str, int]]:
    """Each session that was given, and the frame since when."""
    for call in endpoint_calls(trace, "POST"):
        session = call.head.get(SESSION) if call.head is not None and opens(call) else None
        if session is not None:
            yield session, call.received[0].n


@check("A session is ended by its client", requirements=("HTTP-43",), transports=HTTP_ONLY)
def judge_session_ended(trace: Trace) -> Iterator[Observation]:
    for session, since in list(issued(trace))[-1:]:
        ended = [one for one in endpoint_calls(trace, "DELETE") if one.session == session]
        if ended or has_ended(trace):
            given = [one for one in endpoint_calls(trace) if since in {frame.n for frame in one.received}]
            expected = f"DELETE for session {session}"
            yield observe("HTTP-43", bool(ended), *given, *ended, expected=expected, observed="no DELETE")


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaviour(
        "http.keeps-lost-session", "a lost session is not begun anew", breaks="HTTP-42", renews_session=False
    ),
    behaviour(
        "http.forgets-session", "requests do not name their session", breaks="HTTP-38", sends_session=False
    ),
    behaviour("http.leaves-session", "a session is not ended", breaks="HTTP-43", ends_session=False),
)
