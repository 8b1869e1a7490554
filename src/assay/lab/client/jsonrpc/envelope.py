"""The envelope of every message that a client sends: version, ids, `_meta`, UTF-8."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from assay.lab.client.altered_message import within, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, ENDLESS, INITIALIZE, describes_itself, rejected
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_message
from assay.lab.harness.sabotage.saboteur import BOTH
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message, Shape, id_group, same_id
from assay.lab.harness.trace.shape import client_message_problem, client_result_problem, is_client_message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.suite.envelope import are_objects, has_proper_id, is_utf8, notifications_have_no_id
from assay.lab.suite.jsonrpc import shapes
from assay.revisions.registry import HANDSHAKE, REVISIONS

# --- what is asked


TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


@client_scenario(
    "Other characters than ASCII are sent as UTF-8",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("write", text="Zürich, Łódź, 東京 \N{PARTY POPPER}"))),
    exercises=("jsonrpc.utf8",),
)
async def drive_unicode(stage: ClientStage) -> None:
    stage.server.add_tool({"name": "write", "inputSchema": TEXT})


# --- how it is judged


ESCAPE = b"\\u"
"""Who writes other characters so need not encode any."""


@check("Messages are UTF-8", requirements=("BASE-12",), everywhere=True)
def judge_utf8(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if not message.body.isascii() or ESCAPE in message.body:
            yield is_utf8(message)


@check("Every message is a JSON-RPC 2.0 object", requirements=("BASE-01",), everywhere=True)
def judge_version(trace: Trace) -> Iterator[Observation]:
    return are_objects(trace.received, trace.revision)


ROW = "SHAPE-01"


@check("Messages fit the schema of the revision", requirements=(ROW,), everywhere=True)
def judge_wire_shape(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if _has_form(message) and is_client_message(message, trace.revision):
            problem = client_message_problem(message, trace.revision)
            expected = f"a {message.shape.value} {message.method} that fits its schema"
            yield observe(ROW, problem is None, message, expected=expected, observed=problem)
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.RESULT:
            problem = client_result_problem(exchange.method, exchange.answer.fields["result"], trace.revision)
            expected = f"a result of {exchange.method} that fits its schema"
            yield observe(ROW, problem is None, exchange, expected=expected, observed=problem)


def _has_form(message: Message) -> bool:
    return message.shape in (Shape.REQUEST, Shape.NOTIFICATION)


@check("Keys of `_meta` follow the grammar", requirements=("META-01", "META-02", "META-04"), everywhere=True)
def judge_meta_keys(trace: Trace) -> Iterable[Observation]:
    return shapes.judge_meta_keys.judge(trace)


OLD, NEW = "BASE-04", "BASE-05"


@check("Ids are not used again", requirements=(OLD, NEW), everywhere=True)
def judge_fresh_ids(trace: Trace) -> Iterator[Observation]:
    begun = _begun(trace)
    open_ones: dict[Hashable, list[Exchange]] = defaultdict(list)
    latest: dict[Hashable, Exchange] = {}
    for one in (asked for asked in trace.subject_exchanges() if not rejected(asked)):
        key = (one.request.frame.connection, id_group(one.request.id))
        busy = [before for before in open_ones[key] if _is_under_way(trace, before, one)]
        yield _observed(NEW, one, busy, "an id that no request under way has")
        open_ones[key] = [*busy, one]
        session = _session(trace, begun, one)
        if session is not None:
            used = [latest[session, key]] if (session, key) in latest else []
            yield _observed(OLD, one, used, "an id that was not used in this session")
            latest[session, key] = one


def _observed(row: str, one: Exchange, used: Sequence[Exchange], expected: str) -> Observation:
    same = [before for before in used if same_id(before.request.id, one.request.id)]
    return observe(row, not same, *same, one, expected=expected, observed=f"id {one.request.id!r} again")


def _begun(trace: Trace) -> dict[str, list[int]]:
    """The frames in which each connection begins a handshake."""
    begun: dict[str, list[int]] = defaultdict(list)
    for one in trace.subject_exchanges(INITIALIZE):
        begun[one.request.frame.connection].append(one.request.frame.n)
    return begun


def _session(trace: Trace, begun: dict[str, list[int]], exchange: Exchange) -> int | None:
    """Within what ids must differ: which handshake of its connection; none where that cannot be told."""
    frame = exchange.request.frame
    opened = begun[frame.connection]
    before = sum(n <= frame.n for n in opened)
    # Two conversations over HTTP may go on at once.
    mixed = trace.transport == Transport.HTTP and len(opened) > 1
    return None if mixed or not before or describes_itself(exchange.request) else before


def _is_under_way(trace: Trace, before: Exchange, one: Exchange) -> bool:
    """Whether the earlier request was neither answered, nor given up, nor broken off when the other came."""
    begin, end = before.request.frame, one.request.frame.n
    if before.answer is not None and before.answer.frame.n < end:
        return False
    cancelled = (
        message.frame.n < end
        and message.method == "notifications/cancelled"
        and same_id(message.params.get("requestId"), before.request.id)
        for message in trace.received
    )
    over = (
        frame.kind is Kind.END and frame.channel == begin.channel and begin.n < frame.n < end
        for frame in trace.frames
    )
    return not any(cancelled) and not any(over)


@check("Notifications have no id", requirements=("BASE-11",), everywhere=True)
def judge_notification_ids(trace: Trace) -> Iterator[Observation]:
    return notifications_have_no_id(trace.received)


ASKING = frozenset[str]().union(*(revision.requests for revision in REVISIONS))
"""Methods of requests: without an id they are still meant as such."""


@check("Requests have ids that are texts or integers", requirements=("BASE-02", "BASE-03"), everywhere=True)
def judge_request_ids(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if _is_request(message):
            yield from has_proper_id(message)


def _is_request(message: Message) -> bool:
    asks = message.shape is Shape.REQUEST and not message.method.startswith("notifications/")
    return asks or (message.shape is Shape.NOTIFICATION and message.method in ASKING)


# --- what the checks must catch


@on_message("a message is written in Latin-1", breaks="BASE-12", transports=BOTH)
def latin_1(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return json.dumps(message, ensure_ascii=False).encode("latin-1", "replace")


@on_message("messages lack `jsonrpc`", breaks="BASE-01")
def no_version(message: Json, client: ScriptedClient) -> Json:
    return without(message, "jsonrpc")


@on_message(
    "the arguments of a call are a list", breaks="SHAPE-01", scenario="framing.gives-up", transports=BOTH
)
def list_of_arguments(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(
        message, ("params",), lambda params: {**params, "arguments": [*params["arguments"].values()]}
    )


@on_message("a prefix in `_meta` begins with a digit", breaks="META-01")
def odd_prefix(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(message, ("params", "_meta"), lambda meta: {**meta, "1-st./key": 1})


@on_message("a name in `_meta` begins with a hyphen", breaks="META-02")
def odd_name(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(message, ("params", "_meta"), lambda meta: {**meta, "-key-": 1})


@on_message("a prefix in `_meta` is a host name", breaks="META-04")
def forward_prefix(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(message, ("params", "_meta"), lambda meta: {**meta, "lab.example.com/key": 1})


@on_message("every request has the same id", breaks="BASE-04", id="jsonrpc.same-id")
def same_id_fault(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": 7} if "method" in message and "id" in message else message


PAUSE = 0.1


@misbehaving(
    "a second request has the id of one under way",
    breaks="BASE-05",
    scenario="framing.gives-up",
    transports=STDIO_ONLY,
)
async def twins(client: ScriptedClient) -> None:
    await client.open()
    for tool in (ENDLESS, AFTER):
        params = declared(client.revision, {"name": tool, "arguments": {}}, {})
        message = {"jsonrpc": "2.0", "id": "twin", "method": "tools/call", "params": params}
        client.task(client.send(message))
        await asyncio.sleep(PAUSE)


@on_message("cancellations have an id", breaks="BASE-11", scenario="framing.gives-up", transports=STDIO_ONLY)
def cancellation_with_id(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": "stop"} if message.get("method") == "notifications/cancelled" else message


@on_message("notifications have an id", breaks="BASE-11", window=lambda revision: revision in HANDSHAKE)
def notification_with_id(message: Json, client: ScriptedClient) -> Json:
    told = message.get("method", "").startswith("notifications/")
    return {**message, "id": "told"} if told else message


@on_message("a call has a fraction for its id", breaks="BASE-02")
def fractional_id(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return {**message, "id": message["id"] + 0.5}


@on_message("the id of a call is null", breaks="BASE-03")
def null_id(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": None} if message.get("method") == "tools/call" else message
