"""The envelope of every message that a client sends: version, ids, `_meta`, UTF-8."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

from assay.lab.client.altered_message import with_params, within, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, ENDLESS, INITIALIZE, cancels, describes_itself, rejected
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, misbehaving, on_message
from assay.lab.harness.sabotage.saboteur import BOTH
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Shape, id_group, same_id
from assay.lab.harness.trace.shape import client_message_problem, client_result_problem, is_client_message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.suite.envelope import are_objects, has_proper_id, is_utf8, notifications_have_no_id
from assay.lab.suite.jsonrpc import shapes
from assay.revisions.registry import HANDSHAKE, REVISIONS

# --- what is asked


@client_scenario(
    "Call a tool with characters outside of ASCII",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("write", text="Zürich, Łódź, 東京 \N{PARTY POPPER}"))),
    exercises=("jsonrpc.utf8",),
)
async def drive_unicode(stage: ClientStage) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    stage.server.add_tool({"name": "write", "inputSchema": schema})


# --- how it is judged


@check("Messages are UTF-8", requirements=("BASE-12",), everywhere=True)
def judge_utf8(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        # A client that escapes other characters conforms as well.
        if not message.body.isascii() or b"\\u" in message.body:
            yield is_utf8(message)


@check("Every message is a JSON-RPC 2.0 object", requirements=("BASE-01",), everywhere=True)
def judge_version(trace: Trace) -> Iterator[Observation]:
    return are_objects(trace.received, trace.revision)


@check("Messages match the schema of the revision", requirements=("SHAPE-01",), everywhere=True)
def judge_wire_shape(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        has_form = message.shape in (Shape.REQUEST, Shape.NOTIFICATION)
        if has_form and is_client_message(message, trace.revision):
            problem = client_message_problem(message, trace.revision)
            expected = f"a {message.shape.value} {message.method} that matches its schema"
            yield observe("SHAPE-01", problem is None, message, expected=expected, observed=problem)
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.RESULT:
            problem = client_result_problem(exchange.method, exchange.answer.fields["result"], trace.revision)
            expected = f"a result of {exchange.method} that matches its schema"
            yield observe("SHAPE-01", problem is None, exchange, expected=expected, observed=problem)


judge_meta_keys = check(
    "Keys of `_meta` follow the grammar",
    id="jsonrpc.meta-keys",
    requirements=("META-01", "META-02", "META-04"),
    everywhere=True,
)(shapes.judge_meta_keys.judge)


@check("Request ids are not reused", requirements=("BASE-04", "BASE-05"), everywhere=True)
def judge_fresh_ids(trace: Trace) -> Iterator[Observation]:
    openings: dict[str, list[int]] = defaultdict(list)
    for opening in trace.subject_exchanges(INITIALIZE):
        openings[opening.request.frame.connection].append(opening.request.frame.n)
    pending: dict[Hashable, list[Exchange]] = defaultdict(list)
    latest: dict[Hashable, Exchange] = {}
    for exchange in trace.subject_exchanges():
        if rejected(exchange):
            continue
        frame = exchange.request.frame
        key = (frame.connection, id_group(exchange.request.id))
        busy = [earlier for earlier in pending[key] if _is_pending(trace, earlier, exchange)]
        yield _judge_id("BASE-05", exchange, busy, "an id that no pending request has")
        pending[key] = [*busy, exchange]
        session = _session(trace, openings[frame.connection], exchange)
        if session is not None:
            used = [latest[session, key]] if (session, key) in latest else []
            yield _judge_id("BASE-04", exchange, used, "an id that was not used in this session")
            latest[session, key] = exchange


def _judge_id(requirement: str, exchange: Exchange, used: Sequence[Exchange], expected: str) -> Observation:
    id = exchange.request.id
    same = [earlier for earlier in used if same_id(earlier.request.id, id)]
    return observe(requirement, not same, *same, exchange, expected=expected, observed=f"id {id!r} again")


def _session(trace: Trace, openings: list[int], exchange: Exchange) -> int | None:
    """The number of the handshake on this connection whose ids must differ; None if that is unknown."""
    count = sum(n <= exchange.request.frame.n for n in openings)
    # Over HTTP, several sessions may be open at once.
    ambiguous = trace.transport == Transport.HTTP and len(openings) > 1
    return None if ambiguous or not count or describes_itself(exchange.request) else count


def _is_pending(trace: Trace, earlier: Exchange, later: Exchange) -> bool:
    """Whether the earlier request was not answered, cancelled or broken off when the later one was sent."""
    begin, end = earlier.request.frame, later.request.frame.n
    if earlier.answer is not None and earlier.answer.frame.n < end:
        return False
    cancelled = (message.frame.n < end and cancels(message, earlier) for message in trace.received)
    broken_off = (
        frame.kind is Kind.END and frame.channel == begin.channel and begin.n < frame.n < end
        for frame in trace.frames
    )
    return not any(cancelled) and not any(broken_off)


@check("Notifications have no id", requirements=("BASE-11",), everywhere=True)
def judge_notification_ids(trace: Trace) -> Iterator[Observation]:
    return notifications_have_no_id(trace.received)


REQUESTS: Final = frozenset[str]().union(*(revision.requests for revision in REVISIONS))
"""Methods of requests: a message with one of them is a request, even if it has no id."""


@check("Request ids are strings or integers", requirements=("BASE-02", "BASE-03"), everywhere=True)
def judge_request_ids(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        has_id = message.shape is Shape.REQUEST and not message.method.startswith("notifications/")
        if has_id or (message.shape is Shape.NOTIFICATION and message.method in REQUESTS):
            yield from has_proper_id(message)


# --- what the checks must catch


def _alters_calls(
    name: str, fault: str, breaks: str, change: Callable[[Json], Any], **options: Any
) -> ClientSaboteur:
    """A client that changes each of its tool calls."""
    return on_message(fault, id=f"jsonrpc.{name}", breaks=breaks, **options)(
        lambda message, client: change(message) if message.get("method") == "tools/call" else message
    )


def _adds_key(key: str) -> Callable[[Json], Json]:
    return lambda message: within(message, ("params", "_meta"), lambda meta: {**meta, key: 1})


CALLS: Final = (
    _alters_calls(
        "latin-1",
        "writes a message in Latin-1",
        "BASE-12",
        lambda message: json.dumps(message, ensure_ascii=False).encode("latin-1", "replace"),
        transports=BOTH,
    ),
    _alters_calls(
        "list-of-arguments",
        "sends the arguments of a call as a list",
        "SHAPE-01",
        lambda message: with_params(message, arguments=[*message["params"]["arguments"].values()]),
        scenario="framing.gives-up",
        transports=BOTH,
    ),
    _alters_calls("odd-prefix", "begins a prefix in `_meta` with a digit", "META-01", _adds_key("1-st./key")),
    _alters_calls("odd-name", "begins a name in `_meta` with a hyphen", "META-02", _adds_key("-key-")),
    _alters_calls(
        "forward-prefix",
        "uses a host name as a prefix in `_meta`",
        "META-04",
        _adds_key("lab.example.com/key"),
    ),
    _alters_calls(
        "fractional-id",
        "uses a fraction as the id of a call",
        "BASE-02",
        lambda message: {**message, "id": message["id"] + 0.5},
    ),
    _alters_calls(
        "null-id", "uses null as the id of a call", "BASE-03", lambda message: {**message, "id": None}
    ),
)


@on_message("omits `jsonrpc`", breaks="BASE-01")
def no_version(message: Json, client: ScriptedClient) -> Json:
    return without(message, "jsonrpc")


@on_message("uses the same id for every request", breaks="BASE-04", id="jsonrpc.same-id")
def repeats_id(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": 7} if "method" in message and "id" in message else message


PAUSE: Final = 0.1


@misbehaving(
    "sends a second request with the id of a pending one",
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


@on_message(
    "sends cancellations with an id", breaks="BASE-11", scenario="framing.gives-up", transports=STDIO_ONLY
)
def cancellation_with_id(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": "stop"} if message.get("method") == "notifications/cancelled" else message


@on_message("sends notifications with an id", breaks="BASE-11", window=lambda revision: revision in HANDSHAKE)
def notification_with_id(message: Json, client: ScriptedClient) -> Json:
    notifies = message.get("method", "").startswith("notifications/")
    return {**message, "id": "told"} if notifies else message
