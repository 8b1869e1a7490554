"""stdio framing and the server's process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
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
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY, WEBSOCKET_ONLY, Transport
from assay.lab.suite import framing as server_framing
from assay.lab.suite.envelope import A_MESSAGE_PER_LINE, unfinished_lines
from assay.revisions.revision import Batching, Opening

from .altered_message import after_call, without
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

COMPLAINING: Final = "complaining"
DIED: Final = "died"
"""The mark for the server's unexpected exit."""
STUBBORN: Final = "stubborn"
"""The mark of a scenario whose server only ends by force."""
LISTEN: Final = "subscriptions/listen"

# --- what is asked


LIMIT: Final = 0.4
"""Seconds until the client times out."""
PAUSE: Final = 0.3
"""Seconds in which a client that cancels by disconnecting must have done so."""


@client_scenario(
    "Never answer a call, so that the client times out",
    script=ClientScript(
        steps=(LIST_TOOLS, optional({**call_tool(ENDLESS), "timeout": LIMIT}), call_tool(AFTER)),
        timeouts=True,
    ),
    exercises=("framing.cancelled", "streams.cancelled", "lifecycle.timeouts"),
)
async def drive_gives_up(stage: ClientStage) -> None:
    async def never(cycle: RequestCycle) -> Answer:
        return SILENCE

    async def linger(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(PAUSE)
        return {"content": [{"type": "text", "text": "done"}]}

    stage.server.add_tool({"name": ENDLESS}, never)
    stage.server.add_tool({"name": AFTER}, linger)


@client_scenario(
    "Exit in the middle of a call, while the client has a subscription",
    script=ClientScript(
        steps=(
            LIST_TOOLS,
            step("listen", notifications={"toolsListChanged": True}),
            optional(call_tool("fatal")),
            call_tool(AFTER),
        ),
        may_fail=True,
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


TWO_STEPS: Final = ClientScript(steps=(LIST_TOOLS, call_tool("work")))


@client_scenario(
    "Let the client shut the server down",
    script=TWO_STEPS,
    exercises=("framing.shutdown",),
    transports=STDIO_ONLY,
)
async def drive_shutdown(stage: ClientStage) -> None:
    stage.server.add_tool({"name": "work"})


@client_scenario(
    "Do not exit when the input is closed",
    script=TWO_STEPS,
    exercises=("framing.shutdown",),
    transports=STDIO_ONLY,
)
async def drive_stubborn_server(stage: ClientStage) -> None:
    stage.server.exit_on_end = stage.server.exit_on_signal = False
    stage.server.mark(STUBBORN)
    stage.server.add_tool({"name": "work"})


TEXT: Final = b"Traceback (most recent call last):\nERROR: this is only a log\n"


@client_scenario(
    "Write to standard error during a call",
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


# --- how it is judged


SOON: Final = 0.05
"""Seconds: a client that waits less for the server to exit does not wait at all."""


@check(
    "The client closes the server's input, waits for its exit, and only then sends a signal",
    requirements=("STD-11",),
    transports=STDIO_ONLY,
)
def judge_shutdown(trace: Trace) -> Iterator[Observation]:
    if any(trace.marks(TIMED_OUT)):
        return  # a client that the lab stopped had no time to shut down a server
    stubborn = any(trace.marks(STUBBORN))
    needs_signal = stubborn and trace.revision.opening is Opening.HANDSHAKE
    for start in trace.marks(STARTED):
        frames = [frame for frame in trace.frames if frame.channel == start.channel]
        if any(frame.sender is Sender.SUBJECT and frame.kind is Kind.LINE for frame in frames):
            problem = _shutdown_problem(frames, stubborn, needs_signal)
            ends = [
                frame
                for frame in frames
                if frame.kind is Kind.END or frame.info.get("label") in (KILLED, SIGNALLED)
            ]
            expected = "its input closed, time to exit, then a signal"
            yield observe("STD-11", problem is None, start, *ends, expected=expected, observed=problem)


def _shutdown_problem(frames: Sequence[Frame], stubborn: bool, needs_signal: bool) -> str | None:
    """`needs_signal`: whether force must begin with a signal that the server can handle."""
    closed = next(
        (frame for frame in frames if frame.kind is Kind.END and frame.sender is Sender.SUBJECT), None
    )
    signal = next((frame for frame in frames if frame.info.get("label") == SIGNALLED), None)
    force = signal or next((frame for frame in frames if frame.info.get("label") == KILLED), None)
    if closed is None:
        return "a signal while its input was open" if force else "its input was never closed"
    if signal is not None and signal.n < closed.n:
        return "a signal before its input was closed"
    if needs_signal and signal is None:
        return "no signal, although it did not exit"
    if stubborn and force is None:
        return "it was left running, although it did not exit"
    if stubborn and force is not None and force.t - closed.t < SOON:
        return f"force {force.t - closed.t:.3f} s after the end of its input"
    return None


@check("Output on standard error is not an error", requirements=("STD-04",), transports=STDIO_ONLY)
def judge_stderr(trace: Trace) -> Iterator[Observation]:
    expected = "the client to continue after output on standard error"
    return observe_continued("STD-04", trace, COMPLAINING, expected)


@check("A request that timed out is cancelled", requirements=("STD-09",), transports=STDIO_ONLY)
def judge_cancelled(trace: Trace) -> Iterator[Observation]:
    return observe_cancelled("STD-09", trace)


@check(
    "A custom transport keeps the message format and the lifecycle",
    requirements=("STD-14",),
    everywhere=True,
    transports=WEBSOCKET_ONLY,
)
def judge_custom_transport(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.BINARY and frame.sender is Sender.SUBJECT:
            yield observe("STD-14", False, frame, expected="messages as text", observed="a binary message")
    connections: set[str] = set()
    for message in trace.received:
        first = message.frame.connection not in connections
        connections.add(message.frame.connection)
        problem = _custom_transport_problem(message, first, trace.revision.opening)
        expected = "a JSON-RPC message in the order of the revision"
        yield observe("STD-14", problem is None, message, expected=expected, observed=problem)


def _custom_transport_problem(message: Message, first: bool, opening: Opening) -> str | None:
    if message.shape is Shape.UNKNOWN or message.fields.get("jsonrpc") != "2.0":
        return f"{message.body[:80]!r}"
    described = describes_itself(message)
    if opening is Opening.PER_REQUEST:
        lacks = message.shape is Shape.REQUEST and not described and message.method != INITIALIZE
        return f"{message} without its metadata" if lacks else None
    early = first and not described and message.method not in (INITIALIZE, "ping")
    return f"{message} before the handshake" if early else None


NO_RESPONSES: Final = {Transport.STDIO: "STD-06", Transport.HTTP: "HTTP-09"}


@check(
    "A client sends no responses",
    requirements=tuple(NO_RESPONSES.values()),
    everywhere=True,
    transports=frozenset(NO_RESPONSES),
)
def judge_no_responses(trace: Trace) -> Iterator[Observation]:
    requirement = NO_RESPONSES[Transport(trace.transport)]
    for message in trace.received:
        if message.fields:
            holds, expected = not message.is_response, "a request or a notification"
            yield observe(requirement, holds, message, expected=expected, observed=message)


@check(
    "Only messages are written to the server's input",
    requirements=("STD-03",),
    everywhere=True,
    transports=STDIO_ONLY,
)
def judge_pure_input(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            alone = message.place is None or batches
            holds = bool(message.method or message.is_response or "id" in message.fields) and alone
            observed = f"{message.body[:80]!r}: {message.problem or 'not a message'}"
            yield observe("STD-03", holds, message, expected=A_MESSAGE_PER_LINE, observed=observed)
    yield from unfinished_lines(trace, "STD-03")


@check(
    "A server that exited is started again, and subscribed to again",
    requirements=("STD-13", "SUB-09"),
    transports=STDIO_ONLY,
)
def judge_restart(trace: Trace) -> Iterator[Observation]:
    for exit_ in trace.marks(DIED):
        starts = [start for start in trace.marks(STARTED) if start.n > exit_.n][:1]
        if starts or has_ended(trace):
            expected, observed = "the server to be started again", "it was not"
            yield observe("STD-13", bool(starts), exit_, *starts, expected=expected, observed=observed)
        for start in starts:
            yield from _resubscribed(trace, exit_, start)


def _resubscribed(trace: Trace, exit_: Frame, start: Frame) -> Iterator[Observation]:
    subscriptions = list(trace.subject_exchanges(LISTEN))
    before = [past for past in subscriptions if past.request.frame.n < exit_.n][:1]
    after = [new for new in subscriptions if new.request.frame.connection == start.connection][:1]
    calls = trace.subject_exchanges("tools/call")
    used = any(call.request.frame.connection == start.connection for call in calls)
    # A client that has not used the new process may still be about to subscribe.
    if before and (after or (used and has_ended(trace))):
        expected, observed = f"{LISTEN} again, to the new process", "requests, but no subscription"
        holds = bool(after)
        yield observe("SUB-09", holds, *before, exit_, start, *after, expected=expected, observed=observed)


judge_whole_lines = check(
    "Each message is one line",
    id="framing.whole-lines",
    requirements=("STD-01",),
    everywhere=True,
    transports=STDIO_ONLY,
)(server_framing.judge_whole_lines.judge)


# --- what the checks must catch


@misbehaving(
    "kills the server while its input is open",
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


@on_received("stops after output on standard error", breaks="STD-04", transports=STDIO_ONLY)
def frightened(message: Json, client: ScriptedClient) -> Json | None:
    if "all is well" not in str(message.get("result")):
        return message
    return {"id": message["id"], "error": {"code": -32603, "message": "the server wrote to standard error"}}


@on_message("omits `jsonrpc` on a WebSocket", breaks="STD-14", transports=WEBSOCKET_ONLY)
def custom_format(message: Json, client: ScriptedClient) -> Json:
    return without(message, "jsonrpc")


@on_message(
    "POSTs a response to no request", breaks="HTTP-09", transports=HTTP_ONLY, id="http.posts-a-response"
)
def posts_a_response(message: Json, client: ScriptedClient) -> Any:
    return after_call(message, {"jsonrpc": "2.0", "id": 99, "result": {}})


@on_message("writes a response to no request", breaks="STD-06", transports=STDIO_ONLY)
def answers_nobody(message: Json, client: ScriptedClient) -> Any:
    return after_call(message, {"jsonrpc": "2.0", "id": 99, "result": {}})


@on_line("writes a log line before each message", breaks="STD-03", scenario="tools_call")
def chatty(line: bytes, client: ScriptedClient) -> bytes:
    return b"sending a message\n" + line


@on_message(
    "does not subscribe again after a restart",
    breaks="SUB-09",
    transports=STDIO_ONLY,
    id="subscriptions.listens-once",
)
def listens_once(message: Json, client: ScriptedClient) -> Json | None:
    if message.get("method") != LISTEN:
        return message
    again = client.memory.get("listened")
    client.memory["listened"] = True
    return None if again else message


@on_line("writes a call on several lines", breaks="STD-01", scenario="tools_call")
def pretty(line: bytes, client: ScriptedClient) -> bytes:
    if b'"tools/call"' not in line:
        return line
    return json.dumps(json.loads(line), indent=1).encode() + b"\n"


_on_stdio = partial(behaviour, transports=STDIO_ONLY)
BEHAVIOURS: Final = (
    _on_stdio(
        "framing.leaves-the-server", "leaves its server running", breaks="STD-11", terminates_server=False
    ),
    _on_stdio("framing.leaves-in-silence", "cancels nothing after a timeout", breaks="STD-09", cancels=False),
    _on_stdio("framing.gives-up-on-the-dead", "never restarts a server", breaks="STD-13", restarts=False),
)
