"""stdio framing and the server's process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import (
    behaviour,
    misbehaving,
    on_line,
    on_message,
    on_received,
)
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.stdio_transport import StdioClientTransport
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.client_run import TIMED_OUT
from assay.lab.harness.scripted_server.client_script import (
    LIST_TOOLS,
    ClientScript,
    call_tool,
    optional,
    step,
)
from assay.lab.harness.scripted_server.ordered_channel import DuplexChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.scripted_server.stdio_listener import KILLED, SIGNALLED, STARTED
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.transport import GUARDED, HTTP_ONLY, STDIO_ONLY, WEBSOCKET_ONLY, Transport
from assay.lab.suite import framing as server_framing
from assay.lab.suite.envelope import A_MESSAGE_PER_LINE, unfinished_lines
from assay.revisions.revision import Batching, Opening

from .altered_message import without
from .declaration import client_scenario
from .evidence import (
    AFTER,
    ENDLESS,
    INITIALIZE,
    describes_itself,
    has_ended,
    observe_cancelled,
    observe_continued,
)

# --- what is asked


LIMIT, PAUSE = 0.4, 0.3
"""Seconds until the client gives up; and after that, in which it must have hung up where that is the way."""


@client_scenario(
    "A call that is given up is cancelled",
    script=ClientScript(
        steps=(LIST_TOOLS, optional({**call_tool(ENDLESS), "timeout": LIMIT}), call_tool(AFTER))
    ),
    exercises=("framing.cancelled", "streams.cancelled", "lifecycle.timeouts"),
)
async def drive_gives_up(stage: ClientStage) -> None:
    async def never(cycle: RequestCycle) -> Answer:
        return SILENCE

    stage.server.add_tool({"name": ENDLESS}, never)

    async def linger(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(PAUSE)
        return {"content": [{"type": "text", "text": "done"}]}

    stage.server.add_tool({"name": AFTER}, linger)


LISTENING = step("listen", notifications={"toolsListChanged": True})


@client_scenario(
    "A server that died is started again, and listened to as before",
    script=ClientScript(
        steps=(LIST_TOOLS, LISTENING, optional(call_tool("fatal")), call_tool(AFTER)), may_fail=True
    ),
    exercises=("framing.restart",),
    transports=STDIO_ONLY,
)
async def drive_server_dies(stage: ClientStage) -> None:
    async def die(cycle: RequestCycle) -> Answer:
        if cycle.server.memory.setdefault(DIED, False):
            return {"content": [{"type": "text", "text": "not this time"}]}
        cycle.server.memory[DIED] = True
        cycle.server.mark(DIED)
        cycle.channel.cut()
        return SILENCE

    stage.server.add_tool({"name": "fatal"}, die)
    stage.server.add_tool({"name": AFTER})
    stage.server.capabilities["tools"]["listChanged"] = True


@client_scenario(
    "A server is ended by closing its input",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work"))),
    exercises=("framing.shutdown",),
    transports=STDIO_ONLY,
)
async def drive_shutdown(stage: ClientStage) -> None:
    stage.server.add_tool({"name": "work"})


TEXT = b"Traceback (most recent call last):\nERROR: this is only a log\n"


# --- how it is judged


COMPLAINING = "complaining"


@client_scenario(
    "Output on standard error is no error",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(COMPLAINING), call_tool(AFTER))),
    exercises=("framing.stderr",),
    transports=STDIO_ONLY,
)
async def drive_stderr(stage: ClientStage) -> None:
    async def complain(cycle: RequestCycle) -> Answer:
        if isinstance(cycle.channel, DuplexChannel) and cycle.channel.write_stderr is not None:
            await cycle.channel.write_stderr(TEXT)
        return {"content": [{"type": "text", "text": "all is well"}]}

    stage.server.add_tool({"name": COMPLAINING}, complain)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "A server that does not end is given time, then ended by force",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work"))),
    exercises=("framing.shutdown",),
    transports=STDIO_ONLY,
)
async def drive_stubborn_server(stage: ClientStage) -> None:
    stage.server.exit_on_end = stage.server.exit_on_signal = False
    stage.server.mark(STUBBORN)
    stage.server.add_tool({"name": "work"})


STUBBORN = "stubborn"
"""The mark of a scenario whose server only ends by force."""
SOON = 0.05
"""Seconds: who waits less for a server to end does not wait."""
ORDER = "close its input, wait for it to end, then a signal"


@check("A server is ended in order", requirements=("STD-11",), transports=STDIO_ONLY)
def judge_shutdown(trace: Trace) -> Iterator[Observation]:
    stubborn = any(trace.marks(STUBBORN))
    if any(trace.marks(TIMED_OUT)):
        return  # whoever is stopped has no time to end anything
    for started in trace.marks(STARTED):
        own = [one for one in trace.frames if one.channel == started.channel]
        if any(one.sender is Sender.SUBJECT and one.kind is Kind.LINE for one in own):
            asked = stubborn and trace.revision.opening is Opening.HANDSHAKE
            problem = _problem(own, stubborn, asked)
            evidence = [
                one for one in own if one.kind is Kind.END or one.info.get("label") in (KILLED, SIGNALLED)
            ]
            yield observe("STD-11", problem is None, started, *evidence, expected=ORDER, observed=problem)


def _problem(frames: Sequence[Frame], stubborn: bool, asked: bool) -> str | None:
    """`asked`: whether force begins with a signal that a server can obey."""
    closed = next((one for one in frames if one.kind is Kind.END and one.sender is Sender.SUBJECT), None)
    signal = next((one for one in frames if one.info.get("label") == SIGNALLED), None)
    gone = next((one for one in frames if one.info.get("label") == KILLED), None)
    if closed is None:
        return "a signal while its input was open" if signal or gone else "its input was never closed"
    if signal is not None and signal.n < closed.n:
        return "a signal before its input was closed"
    if asked and signal is None:
        return "no signal, though it did not end"
    force = signal or gone
    if stubborn and force is None:
        return "it was left alone, though it did not end"
    if stubborn and force is not None and force.t - closed.t < SOON:
        return f"force {force.t - closed.t:.3f} s after the end of its input"
    return None


@check("Output on standard error is no error", requirements=("STD-04",), transports=STDIO_ONLY)
def judge_stderr(trace: Trace) -> Iterator[Observation]:
    yield from observe_continued(
        "STD-04", trace, COMPLAINING, "the client to go on after output on standard error"
    )


@check("A request that is given up is cancelled", requirements=("STD-09",), transports=STDIO_ONLY)
def judge_cancelled(trace: Trace) -> Iterator[Observation]:
    return observe_cancelled("STD-09", trace)


ROW = "STD-14"


@check(
    "A custom transport keeps format and lifecycle",
    requirements=(ROW,),
    everywhere=True,
    transports=WEBSOCKET_ONLY,
)
def judge_custom_transport(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.BINARY and frame.sender is Sender.SUBJECT:
            yield observe(ROW, False, frame, expected="messages as text", observed="a binary message")
    greeted: set[str] = set()
    for message in trace.received:
        first = message.frame.connection not in greeted
        greeted.add(message.frame.connection)
        problem = _custom_transport_problem(message, first, trace.revision.opening)
        expected = "a JSON-RPC message in the order of the revision"
        yield observe(ROW, problem is None, message, expected=expected, observed=problem)


def _custom_transport_problem(message: Message, first: bool, opening: Opening) -> str | None:
    if message.shape is Shape.UNKNOWN or message.fields.get("jsonrpc") != "2.0":
        return f"{message.body[:80]!r}"
    described = describes_itself(message)
    if opening is Opening.PER_REQUEST:
        lacks = message.shape is Shape.REQUEST and not described and message.method != INITIALIZE
        return f"{message} without its metadata" if lacks else None
    early = first and not described and message.method not in (INITIALIZE, "ping")
    return f"{message} before the handshake" if early else None


ROWS = {Transport.STDIO: "STD-06", Transport.HTTP: "HTTP-09"}


@check(
    "A client sends no responses",
    requirements=tuple(ROWS.values()),
    everywhere=True,
    transports=(STDIO_ONLY | GUARDED) & ROWS.keys(),
)
def judge_no_responses(trace: Trace) -> Iterator[Observation]:
    row = ROWS.get(Transport(trace.transport))
    for message in trace.received if row is not None else ():
        if message.fields and row is not None:
            expected = "a request or a notification"
            yield observe(row, not message.is_response, message, expected=expected, observed=message)


@check(
    "Nothing but messages goes to the server",
    requirements=("STD-03",),
    everywhere=True,
    transports=STDIO_ONLY,
)
def judge_pure_input(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            alone = message.place is None or batches
            right = bool(message.method or message.is_response or "id" in message.fields) and alone
            observed = f"{message.body[:80]!r}: {message.problem or 'no message'}"
            yield observe("STD-03", right, message, expected=A_MESSAGE_PER_LINE, observed=observed)
    yield from unfinished_lines(trace, "STD-03")


DIED = "died"
"""The mark of a scenario whose server ends of itself."""
LISTEN = "subscriptions/listen"


@check("A server that died is started again", requirements=("STD-13", "SUB-09"), transports=STDIO_ONLY)
def judge_restart(trace: Trace) -> Iterator[Observation]:
    for died in trace.marks(DIED):
        again = [one for one in trace.marks(STARTED) if one.n > died.n]
        if again or has_ended(trace):
            expected, observed = "the server to be started again", "it was not"
            yield observe("STD-13", bool(again), died, *again[:1], expected=expected, observed=observed)
        if again:
            yield from _listened(trace, died, again[0])


def _listened(trace: Trace, died: Frame, again: Frame) -> Iterator[Observation]:
    listened = [one for one in trace.inquiries(LISTEN)]
    before = [one for one in listened if one.request.frame.n < died.n]
    after = [one for one in listened if one.request.frame.connection == again.connection]
    used = [one for one in trace.inquiries("tools/call") if one.request.frame.connection == again.connection]
    # Who has not come to use the new process yet may still be about to listen.
    if before and (after or (used and has_ended(trace))):
        yield observe(
            "SUB-09",
            bool(after),
            *before[:1],
            died,
            again,
            *after[:1],
            expected=f"{LISTEN} again, to the new process",
            observed="requests, and none of that",
        )


@check("A message is one line", requirements=("STD-01",), everywhere=True, transports=STDIO_ONLY)
def judge_whole_lines(trace: Trace) -> Iterable[Observation]:
    return server_framing.judge_whole_lines.judge(trace)


# --- what the checks must catch


@misbehaving(
    "a server is killed while its input is open",
    breaks="STD-11",
    scenario="framing.shutdown",
    transports=STDIO_ONLY,
)
async def kills_at_once(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"])
    assert isinstance(client.connection, StdioClientTransport) and client.connection.process is not None
    client.connection.process.kill()
    await client.connection.process.wait()


@on_received("output on standard error ends the client", breaks="STD-04", transports=STDIO_ONLY)
def frightened(message: Json, client: ScriptedClient) -> Json | None:
    if "all is well" not in str(message.get("result")):
        return message
    return {"id": message["id"], "error": {"code": -32603, "message": "the server wrote to standard error"}}


@on_message("messages on a WebSocket lack `jsonrpc`", breaks="STD-14", transports=WEBSOCKET_ONLY)
def custom_format(message: Json, client: ScriptedClient) -> Json:
    return without(message, "jsonrpc")


@on_message(
    "a response is POSTed though nobody asks",
    breaks="HTTP-09",
    transports=HTTP_ONLY,
    id="http.posts-a-response",
)
def posts_a_response(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": 99, "result": {}}]


@on_message("a response is written though nobody asks", breaks="STD-06", transports=STDIO_ONLY)
def answers_nobody(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": 99, "result": {}}]


@on_line("a remark is written before each message", breaks="STD-03", scenario="tools_call")
def chatty(line: bytes, client: ScriptedClient) -> bytes:
    return b"sending a message\n" + line


@on_message(
    "a server that was started again is not listened to",
    breaks="SUB-09",
    transports=STDIO_ONLY,
    id="subscriptions.listens-once",
)
def listens_once(message: Json, client: ScriptedClient) -> Json | None:
    if message.get("method") != "subscriptions/listen" or not client.memory.get("listened"):
        client.memory["listened"] = (
            client.memory.get("listened") or message.get("method") == "subscriptions/listen"
        )
        return message
    return None


@on_line("a call is written over several lines", breaks="STD-01", scenario="tools_call")
def pretty(line: bytes, client: ScriptedClient) -> bytes:
    if b'"tools/call"' not in line:
        return line
    return json.dumps(json.loads(line), indent=1).encode() + b"\n"


BEHAVIOURS: Final = (
    behaviour(
        "framing.leaves-the-server",
        "a server that does not end is left alone",
        breaks="STD-11",
        transports=STDIO_ONLY,
        terminates_server=False,
    ),
    behaviour(
        "framing.leaves-in-silence",
        "a request is given up without a word",
        breaks="STD-09",
        transports=STDIO_ONLY,
        cancels=False,
    ),
    behaviour(
        "framing.gives-up-on-the-dead",
        "a server that died is not started again",
        breaks="STD-13",
        transports=STDIO_ONLY,
        restarts=False,
    ),
)
