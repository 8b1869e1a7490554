"""Bad messages are refused with the right code, and the server keeps serving."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Response,
    Stage,
    Trace,
    error_reply,
    observe,
    on_batch,
    on_reply,
    on_request,
    on_response,
    result_reply,
    scenario,
)
from assay.lab.harness.check import Check
from assay.lab.harness.driver.argument import invalid_arguments
from assay.lab.harness.driver.message_meta import declared, param_headers
from assay.lab.harness.driver.peer import Peer, Reply, encode
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.need import declares, either
from assay.lab.harness.sabotage.alteration import encode as encode_message
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.harness.subject.registry_entry import as_object, profile_block
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Probe
from assay.lab.harness.transport import Transport
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from assay.revisions.revision import Batching, Revision

from .bad_message import BATCH, PREFIX, Attempt, BadMessage, attempts, judge_refused, plain_request, send_each
from .declaration import BOTH, profile_check
from .lists import LISTS


def serves_batches(entry: Any, revision: Revision) -> bool:
    """Whether the registry entry lists batches and the revision supports them.

    MCP requires batches at one revision, where the profile refuses those that are not listed. Its editions
    settle this differently: by `CONF-JRPC-03.batch` an unlisted batch is refused at every revision, by
    `CONF-JRPC-03.batch-by-revision` it may also be served where the revision defines batches, so that one
    server can meet both MCP and the profile.
    """
    listed = as_object(profile_block(entry).get("jsonrpc")).get("batch") is True
    return listed and revision.batching is Batching.ACCEPTED


def judge_unharmed(trace: Trace, cases: Collection[str]) -> Iterator[Observation]:
    """Each message of these cases gets one answer, and does no harm."""
    expected = (
        f"one answer without error {INTERNAL_ERROR} or HTTP status 5xx, and a server that keeps serving"
    )
    for attempt in attempts(trace):
        if attempt.requirement in cases:
            failed = attempt.recovered is False
            observed = f"{attempt}; then {attempt.next_reply}" if failed else f"{attempt}"
            holds = _is_settled(attempt) and not failed
            yield observe(attempt.requirement, holds, attempt, expected=expected, observed=observed)


def _is_settled(attempt: Attempt) -> bool:
    """On HTTP, a status alone is also an answer."""
    refused = attempt.status is not None and 400 <= attempt.status < 500
    answered = len(attempt.answers) == 1 or (refused and not attempt.answers)
    sound = all(answer.code != INTERNAL_ERROR for answer in attempt.answers)
    return answered and sound and (attempt.status is None or attempt.status < 500)


# --- what is asked


@scenario(
    "Send batches",
    exercises=("negatives.batch", "negatives.batch-by-revision", "negatives.recovers"),
    transports=BOTH,
)
async def drive_batch(stage: Stage) -> None:
    entry = stage.out_of_band.registry
    if entry is not None:
        stage.note(REGISTRY, entry=entry)
    await send_each(stage, _batches(stage, served=stage.revision.batching is Batching.ACCEPTED))


def _batches(stage: Stage, *, served: bool) -> Iterator[BadMessage]:
    for size in (2, 1, 0):
        ids = tuple(f"batch of {size}, {place}" for place in range(size))
        members = [plain_request(stage, request_id) for request_id in ids]
        yield BadMessage("batch", f"a batch of {size}", members, ids, answered=served)


INVALID_FIELDS: Final[tuple[tuple[str, str, Any], ...]] = (
    ("version", "jsonrpc", ABSENT),
    ("version", "jsonrpc", "1.0"),
    ("version", "jsonrpc", 2.0),
    ("method", "method", ABSENT),
    ("method", "method", 17),
    ("params", "params", "a text"),
    ("params", "params", 42),
)


@scenario(
    "Send requests with one invalid field",
    exercises=("negatives.envelope", "negatives.recovers"),
    transports=BOTH,
)
async def drive_envelope(stage: Stage) -> None:
    await send_each(stage, _envelope_messages(stage))


def _envelope_messages(stage: Stage) -> Iterator[BadMessage]:
    for number, (case, key, value) in enumerate(INVALID_FIELDS):
        name = f"invalid-{number}"
        fields = {**plain_request(stage, name), key: value}
        message = {field: content for field, content in fields.items() if content is not ABSENT}
        description = f"a request without `{key}`" if value is ABSENT else f"a request with {key} {value!r}"
        yield BadMessage(case, description, message, (name,))


MUCH: Final = 10_000
PLACEHOLDER: Final = "placeholder"
HOSTILE: Final = (
    ("deep-nesting", f"arrays {MUCH} deep", b"[" * MUCH + b"]" * MUCH),
    ("deep-nesting", f"objects {MUCH} deep", b'{"a":' * MUCH + b"1" + b"}" * MUCH),
    ("huge-number", f"an integer of {MUCH} digits", b"9" * MUCH),
    ("huge-number", "a number beyond any range", b"1e" + b"9" * MUCH),
)


@scenario(
    "Send deeply nested messages and huge numbers",
    exercises=("negatives.hostile", "negatives.recovers"),
    transports=BOTH,
)
async def drive_hostile(stage: Stage) -> None:
    await send_each(stage, _hostile_messages(stage))


def _hostile_messages(stage: Stage) -> Iterator[BadMessage]:
    mirrored = {"Mcp-Method": stage.plain} if stage.revision.http.mirrored else {}
    for number, (case, description, value) in enumerate(HOSTILE):
        name = f"hostile-{number}"
        message = encode(plain_request(stage, name, value=PLACEHOLDER)).replace(encode(PLACEHOLDER), value)
        yield BadMessage(case, description, message, (name,), mirrored)


REUSED: Final = "reused"
"""The name of the probe, and the id."""
A_LIST: Final = either(declares("tools"), either(declares("prompts"), declares("resources")))


@scenario(
    "Reuse the id of a pending request", exercises=("negatives.id-reuse",), needs=(A_LIST,), transports=BOTH
)
async def drive_id_reuse(stage: Stage) -> None:
    peer = await stage.open()
    listed = next(listed for listed in LISTS if stage.facts.declares(listed.capability))
    async with peer.probe(REUSED):
        requests = [await peer.start(method, request_id=REUSED) for method in (listed.method, stage.plain)]
        for pending in requests:
            # The server may ignore the second; whether the first is answered is for the check to judge.
            with suppress(NoAnswer):
                await peer.answer(pending)


ENOUGH: Final = 3
"""Tools that are called with bad arguments."""
UNKNOWN_METHODS: Final = ("no/such/method", "tools/no-such-verb")
UNKNOWN_TOOL: Final = "no-such-tool-of-the-lab"


@scenario(
    "Send requests for unknown methods, tools and arguments",
    exercises=("negatives.requests", "negatives.recovers"),
    transports=BOTH,
)
async def drive_requests(stage: Stage) -> None:
    peer = await stage.open()
    tools = await _working_tools(stage, peer)
    await send_each(stage, _bad_requests(stage, tools), peer)


async def _working_tools(stage: Stage, peer: Peer) -> list[dict[str, Any]]:
    """Callable tools that accept fitting arguments. Of a tool that never works, a refusal proves nothing."""
    working: list[dict[str, Any]] = []
    for tool in stage.facts.quick_tools:
        good = stage.facts.arguments_for(tool)
        if len(working) < ENOUGH and any(invalid_arguments(tool, good)):
            working += [tool] if _succeeded(await peer.call(tool, good)) else []
    return working


def _succeeded(reply: Reply) -> bool:
    done = reply.result.get("resultType", "complete") == "complete"
    return reply.is_result and done and not reply.result.get("isError")


def _bad_requests(stage: Stage, tools: list[dict[str, Any]]) -> Iterator[BadMessage]:
    for method in UNKNOWN_METHODS:
        yield _request(stage, "unknown-method", f"the method {method}", method, {})
    if stage.facts.declares("tools"):
        call = {"name": UNKNOWN_TOOL, "arguments": {}}
        yield _request(stage, "unknown-tool", f"the tool {UNKNOWN_TOOL}", "tools/call", call)
    for tool in tools:
        for number, arguments in enumerate(invalid_arguments(tool, stage.facts.arguments_for(tool))):
            description = f"the arguments {arguments!r} of {tool['name']}"
            call = {"name": tool["name"], "arguments": arguments}
            headers = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
            name = f"{tool['name']} {number}"
            yield _request(stage, "invalid-arguments", description, "tools/call", call, name, headers)


def _request(
    stage: Stage,
    case: str,
    description: str,
    method: str,
    params: dict[str, Any],
    name: str = "",
    headers: dict[str, str] | None = None,
) -> BadMessage:
    request_id = f"{case} {name or method}"
    complete = declared(stage.revision, params, {})
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": complete}
    return BadMessage(case, description, message, (request_id,), headers or {}, answered=True)


NOT_JSON: Final = (b"this is not JSON", b'{"jsonrpc": "2.0", "id": 1, "method": ping}', b"{'jsonrpc': '2.0'}")


@scenario(
    "Send malformed, truncated and ambiguous JSON",
    exercises=("negatives.text", "negatives.duplicate-keys", "negatives.recovers"),
    transports=BOTH,
)
async def drive_text(stage: Stage) -> None:
    await send_each(stage, _text_messages(stage))


def _text_messages(stage: Stage) -> Iterator[BadMessage]:
    for text in NOT_JSON:
        yield BadMessage("malformed", f"{text.decode()!r}", text)
    whole = encode(plain_request(stage, "cut"))
    for length in (1, len(whole) // 2, len(whole) - 1):
        yield BadMessage("truncated", f"the first {length} of {len(whole)} bytes", whole[:length])
    # Where headers repeat the method, they repeat the last one, which most parsers keep.
    mirrored = {"Mcp-Method": stage.plain} if stage.revision.http.mirrored else {}
    twice = encode(plain_request(stage, "twice"))
    method = b'{"method":"no/such/method",' + twice[1:]
    yield BadMessage("duplicate-keys", "two methods in one request", method, ("twice",), mirrored)
    again = b'{"id":"once",' + encode(plain_request(stage, "again"))[1:]
    yield BadMessage("duplicate-keys", "two ids in one request", again, ("once", "again"), mirrored)


# --- how it is judged


@profile_check("Batches are refused unless the registry entry lists them", requirements=(f"{PREFIX}batch",))
def judge_batch(trace: Trace) -> Iterator[Observation]:
    return _judge_batches(trace, f"{PREFIX}batch", may_be_served=False)


@profile_check(
    "Batches are refused unless the registry entry lists them or the revision defines them",
    requirements=(f"{PREFIX}batch-by-revision",),
)
def judge_batch_by_revision(trace: Trace) -> Iterator[Observation]:
    defined = trace.revision.batching is Batching.ACCEPTED
    return _judge_batches(trace, f"{PREFIX}batch-by-revision", may_be_served=defined)


def _judge_batches(trace: Trace, requirement: str, *, may_be_served: bool) -> Iterator[Observation]:
    entries = (mark.info.get("entry") for mark in trace.marks(REGISTRY))
    listed = any(serves_batches(entry, trace.revision) for entry in entries)
    for attempt in attempts(trace):
        if attempt.requirement == f"{PREFIX}batch":
            # JSON-RPC itself forbids an empty batch.
            has_members = bool(_ids(attempt, trace))
            if listed and has_members:
                expected = "a result for each request of a batch, since the registry entry lists batches"
                holds = _is_served(attempt, trace)
            else:
                expected, holds = f"{BATCH}", BATCH.fits(attempt)
                if may_be_served and has_members:
                    expected = f"{expected}; or a result for each request of the batch"
                    holds = holds or _is_served(attempt, trace)
            yield observe(requirement, holds, attempt, expected=expected, observed=attempt)


def _ids(attempt: Attempt, trace: Trace) -> list[str]:
    """The ids of the requests in the batch."""
    inside = {frame.n for frame in attempt.inside}
    sent = [message for message in trace.messages if not message.by_subject and message.frame.n in inside]
    return [message.id for message in sent if message.place is not None and isinstance(message.id, str)]


def _is_served(attempt: Attempt, trace: Trace) -> bool:
    answered = [answer.id for answer in attempt.answers if "result" in answer.fields]
    return sorted(map(str, answered)) == sorted(_ids(attempt, trace))


def _cases(
    name: str, title: str, judge: Callable[[Trace, Collection[str]], Iterator[Observation]], *cases: str
) -> Check:
    """A check of messages that differ only in their case."""
    requirements = tuple(f"{PREFIX}{case}" for case in cases)
    return profile_check(title, id=f"negatives.{name}", requirements=requirements)(
        lambda trace: judge(trace, requirements)
    )


CHECKS: Final = (
    _cases("text", "Text that is not JSON is refused", judge_refused, "malformed", "truncated"),
    _cases(
        "envelope", "Requests with an invalid field are refused", judge_refused, "version", "method", "params"
    ),
    _cases(
        "requests",
        "Requests that cannot be served are refused",
        judge_refused,
        "unknown-method",
        "unknown-tool",
        "invalid-arguments",
    ),
    _cases(
        "hostile",
        "Nested messages and huge numbers do no harm",
        judge_unharmed,
        "deep-nesting",
        "huge-number",
    ),
    _cases("duplicate-keys", "Duplicate keys do no harm", judge_unharmed, "duplicate-keys"),
)
REUSE: Final = f"{PREFIX}id-reuse"
KEYS: Final = {listed.method: listed.key for listed in LISTS}


@profile_check("Reusing an id does not disturb the first request", requirements=(REUSE,))
def judge_id_reuse(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(REUSED):
        first = next(iter(probe.sent), None)
        key = None if first is None else KEYS.get(first.method)
        if first is not None and key is not None:
            results = [answer for answer in _answers(probe, first, trace) if key in answer.result]
            holds = len(results) == 1 and len(probe.answers) <= len(probe.sent)
            expected = f"one result with {key} for the first request, {first.method}; at most one answer each"
            observed = " and ".join(map(str, probe.answers)) or "no answer"
            yield observe(REUSE, holds, probe, expected=expected, observed=observed)


def _answers(probe: Probe, first: Message, trace: Trace) -> list[Message]:
    """On HTTP, those on the response to the first; elsewhere only their content distinguishes them."""
    if trace.transport != Transport.HTTP:
        return list(probe.answers)
    return [answer for answer in probe.answers if answer.frame.channel == first.frame.channel]


@profile_check("A server keeps serving after a bad message", requirements=(f"{PREFIX}recovers",))
def judge_recovers(trace: Trace) -> Iterator[Observation]:
    for attempt in attempts(trace):
        if attempt.recovered is not None:
            expected = f"a result for the next good request, after {attempt.description}"
            observed = attempt.next_reply
            yield observe(
                f"{PREFIX}recovers", attempt.recovered, attempt, expected=expected, observed=observed
            )


# --- what the checks must catch


@on_batch("serves a batch", breaks="CONF-JRPC-03.batch")
def batch_served(members: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    if not members:
        return members
    return LocalAnswer([encode_message([result_reply(member, {}) for member in members])])


@on_batch("serves one request of a batch", breaks="CONF-JRPC-03.batch-by-revision")
def batch_served_in_part(members: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    if not members:
        return members
    return LocalAnswer([encode_message([result_reply(members[0], {}) for _ in members])])


@on_response("refuses a batch with HTTP 200", breaks="CONF-JRPC-03.batch", window=newest_of_each_kind)
def batch_status(response: Response, context: FaultContext) -> None:
    if context.call is not None and context.call.body.startswith(b"["):
        response.status = 200


@on_batch("ignores an empty batch", breaks="CONF-JRPC-03.batch")
def empty_batch_ignored(members: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    return members or LocalAnswer([])


@on_request("refuses a request without a method with -32601", breaks="CONF-JRPC-03.method")
def no_method_not_found(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if isinstance(message.get("method"), str) or "id" not in message:
        return message
    return LocalAnswer([error_reply(message, METHOD_NOT_FOUND, "Method not found")])


@on_request("serves a request whose params are a string", breaks="CONF-JRPC-03.params")
def params_dropped(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if isinstance(message.get("params", {}), dict | list):
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": message.get("id"), "result": {}}])


@on_request("ignores the value of `jsonrpc`", breaks="CONF-JRPC-03.version")
def version_ignored(message: Json, context: FaultContext) -> Json:
    return {**message, "jsonrpc": "2.0"}


@on_reply(
    "refuses deep nesting with -32603", breaks="CONF-JRPC-03.deep-nesting", scenario="negatives.hostile"
)
def nesting_internal(reply: Json, context: FaultContext) -> Json:
    return _with_code(reply, INTERNAL_ERROR, PARSE_ERROR, INVALID_REQUEST)


def _with_code(reply: Json, code: int, *replaced: int) -> Json:
    error = reply.get("error", {})
    return {**reply, "error": {**error, "code": code}} if error.get("code") in replaced else reply


@on_reply(
    "serves nothing after a huge number", breaks="CONF-JRPC-03.huge-number", scenario="negatives.hostile"
)
def number_fatal(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") in (PARSE_ERROR, INVALID_REQUEST):
        context.memory["full"] = True
    if "result" not in reply or not context.memory.get("full"):
        return reply
    return error_reply(reply, INTERNAL_ERROR, "out of memory")


@on_request(
    "refuses the first of two requests with one id",
    breaks="CONF-JRPC-03.id-reuse",
    window=newest_of_each_kind,
)
def reused_id_cancels(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id") != REUSED or not str(message.get("method")).endswith("/list"):
        return message
    return LocalAnswer([error_reply(message, INVALID_REQUEST, "the id is in use")])


@on_request("answers the first of two requests with the result of the second", breaks="CONF-JRPC-03.id-reuse")
def reused_id_crosses(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id") != REUSED or not str(message.get("method")).endswith("/list"):
        return message
    return LocalAnswer([result_reply(message, {})])


@on_reply("accepts invalid arguments", breaks="CONF-JRPC-03.invalid-arguments")
def arguments_taken(reply: Json, context: FaultContext) -> Json:
    if not str(reply.get("id")).startswith("invalid-arguments"):
        return reply
    return result_reply(reply, {"content": [{"type": "text", "text": "done"}]})


@on_reply("answers an unknown method with a result", breaks="CONF-JRPC-03.unknown-method")
def unknown_method_served(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") != METHOD_NOT_FOUND:
        return reply
    return result_reply(reply, {})


@on_response("answers an unknown method with HTTP 500", breaks="CONF-JRPC-03.unknown-method")
def unknown_method_status(response: Response, context: FaultContext) -> None:
    if "no-such" in context.method or "no/such" in context.method:
        response.status = 500


@on_reply("reports success for an unknown tool", breaks="CONF-JRPC-03.unknown-tool")
def unknown_tool_served(reply: Json, context: FaultContext) -> Json:
    if not str(context.params.get("name")).startswith("no-such"):
        return reply
    return result_reply(reply, {"content": []})


@on_reply("ignores text that is not JSON", breaks="CONF-JRPC-03.malformed")
def text_ignored(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("error", {}).get("code") == PARSE_ERROR else reply


@on_reply(
    "refuses text that is not JSON with -32603", breaks="CONF-JRPC-03.malformed", window=newest_of_each_kind
)
def text_internal(reply: Json, context: FaultContext) -> Json:
    return _with_code(reply, INTERNAL_ERROR, PARSE_ERROR)


@on_reply("refuses a truncated message with -32602", breaks="CONF-JRPC-03.truncated")
def rest_guessed(reply: Json, context: FaultContext) -> Json:
    return _with_code(reply, INVALID_PARAMS, PARSE_ERROR)


@on_reply("answers a request with two methods twice", breaks="CONF-JRPC-03.duplicate-keys")
def key_served_twice(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if reply.get("id") == "twice" else [reply]


@on_reply(
    "refuses every request after text that is not JSON",
    breaks="CONF-JRPC-03.recovers",
    scenario="negatives.text",
)
def stays_confused(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == PARSE_ERROR:
        context.memory["lost"] = True
    if "result" not in reply or not context.memory.get("lost"):
        return reply
    return error_reply(reply, PARSE_ERROR, "not JSON")
