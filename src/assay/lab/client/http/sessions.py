"""HTTP sessions: named in every request, ended, and replaced when lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import INITIALIZE, describes_itself, endpoint_calls, has_ended
from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

# --- what is asked


@client_scenario(
    "Open a session",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work"))),
    exercises=("http.session-named", "http.session-ended", "http.agreed-version"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session(stage: ClientStage) -> None:
    stage.server.sessions = stage.server.standalone = True
    stage.server.add_tool({"name": "work"})


@client_scenario(
    "Forget the session",
    # A client may report the loss, and start over with the next call.
    script=ClientScript(
        steps=(
            LIST_TOOLS,
            call_tool("work", number=1),
            *(optional(call_tool("work", number=number)) for number in (2, 3)),
        ),
        may_fail=True,
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


@check("After a lost session, the client starts over", requirements=("HTTP-42",), transports=HTTP_ONLY)
def judge_session_lost(trace: Trace) -> Iterator[Observation]:
    posts = list(endpoint_calls(trace, "POST"))
    for call in posts:
        if call.status != 404 or call.session is None or opens_session(call):
            continue
        openings = [post for post in posts if opens_session(post) and post.request.n > call.request.n][:1]
        if openings or has_ended(trace):
            holds = bool(openings) and openings[0].session is None
            observed = f"session {openings[0].session}" if openings else "no `initialize`"
            expected = "`initialize` without a session id"
            yield observe("HTTP-42", holds, call, *openings, expected=expected, observed=observed)


@check("Requests name their session", requirements=("HTTP-38",), everywhere=True, transports=HTTP_ONLY)
def judge_session_named(trace: Trace) -> Iterator[Observation]:
    issued = dict(_issued_sessions(trace))
    for call in endpoint_calls(trace):
        sessions = [session for session, since in issued.items() if since < call.request.n]
        if sessions and not opens_session(call) and not any(map(describes_itself, call.request_messages)):
            expected, observed = f"Mcp-Session-Id: {sessions[-1]}", f"{call.session}"
            yield observe("HTTP-38", call.session in sessions, call, expected=expected, observed=observed)


def opens_session(call: Call) -> bool:
    return any(message.method == INITIALIZE for message in call.request_messages)


def _issued_sessions(trace: Trace) -> Iterator[tuple[str, int]]:
    """Each session that the server opened, with the number of the frame."""
    for call in endpoint_calls(trace, "POST"):
        session = call.head.get("mcp-session-id") if call.head is not None and opens_session(call) else None
        if session is not None:
            yield session, call.received[0].n


@check("The client deletes its session", requirements=("HTTP-43",), transports=HTTP_ONLY)
def judge_session_ended(trace: Trace) -> Iterator[Observation]:
    for session, since in list(_issued_sessions(trace))[-1:]:
        deleted = [call for call in endpoint_calls(trace, "DELETE") if call.session == session]
        if deleted or has_ended(trace):
            opened = [call for call in endpoint_calls(trace) if since in {frame.n for frame in call.received}]
            expected, holds = f"DELETE for session {session}", bool(deleted)
            yield observe("HTTP-43", holds, *opened, *deleted, expected=expected, observed="no DELETE")


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaviour(
        "http.keeps-lost-session", "does not replace a lost session", breaks="HTTP-42", renews_session=False
    ),
    behaviour("http.forgets-session", "does not name its session", breaks="HTTP-38", sends_session=False),
    behaviour("http.leaves-session", "does not delete its session", breaks="HTTP-43", ends_session=False),
)
