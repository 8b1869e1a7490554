"""Bad messages: refused with the right code, and the server keeps serving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Response,
    Stage,
    Trace,
    observe,
    on_batch,
    on_reply,
    on_request,
    on_response,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for, refused_arguments
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.mirrored_header import param_headers
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

from .bad_message import BATCH, Attempt, BadMessage, attempts, offer_each, plain_request, refused
from .declaration import BOTH, profile_check
from .lists import LISTS


def batches_are_welcome(entry: Any, revision: Revision) -> bool:
    """Whether the registry entry lists them, and the revision has them."""
    listed = as_object(profile_block(entry).get("jsonrpc")).get("batch") is True
    return listed and revision.batching is Batching.ACCEPTED


EXPECTED: Final = (
    f"one answer, but no error {INTERNAL_ERROR} and no HTTP status from 500; and a server that goes on"
)


def unharmed(trace: Trace, cases: Sequence[str]) -> Iterator[Observation]:
    """Whether the server stood each message of these cases."""
    for attempt in attempts(trace):
        if attempt.case in cases:
            fell = attempt.went_on is False
            observed = f"{attempt}; then {attempt.after}" if fell else f"{attempt}"
            holds = _is_settled(attempt) and not fell
            yield observe(attempt.row, holds, attempt, expected=EXPECTED, observed=observed)


def _is_settled(attempt: Attempt) -> bool:
    """On HTTP a status alone is an answer, too."""
    refused = attempt.status is not None and 400 <= attempt.status < 500
    answered = len(attempt.answers) == 1 or (refused and not attempt.answers)
    sound = all(one.code != INTERNAL_ERROR for one in attempt.answers)
    return answered and sound and (attempt.status is None or attempt.status < 500)


# --- what is asked


SIZES = (2, 1, 0)


@scenario("Messages in a batch", exercises=("negatives.batch", "negatives.recovers"), transports=BOTH)
async def drive_batch(stage: Stage) -> None:
    entry = stage.surroundings.registry
    if entry is not None:
        stage.note(REGISTRY, entry=entry)
    await offer_each(stage, _messages(stage, welcome=batches_are_welcome(entry, stage.revision)))


def _messages(stage: Stage, *, welcome: bool) -> Iterator[BadMessage]:
    for size in SIZES:
        ids = tuple(f"batch of {size}, {place}" for place in range(size))
        members = [plain_request(stage, one) for one in ids]
        yield BadMessage("batch", f"a batch of {size}", members, ids, answered=welcome)


LEFT_OUT = object()
SPOILED: tuple[tuple[str, str, Any], ...] = (
    ("version", "jsonrpc", LEFT_OUT),
    ("version", "jsonrpc", "1.0"),
    ("version", "jsonrpc", 2.0),
    ("method", "method", LEFT_OUT),
    ("method", "method", 17),
    ("params", "params", "a text"),
    ("params", "params", 42),
)


@scenario(
    "Messages that are nearly requests",
    exercises=("negatives.envelope", "negatives.recovers"),
    transports=BOTH,
)
async def drive_envelope(stage: Stage) -> None:
    await offer_each(stage, _envelope_messages(stage))


def _envelope_messages(stage: Stage) -> Iterator[BadMessage]:
    for number, (case, key, value) in enumerate(SPOILED):
        name = f"spoiled-{number}"
        message = {**plain_request(stage, name), key: value}
        kept = {field: given for field, given in message.items() if given is not LEFT_OUT}
        what = f"a request without `{key}`" if value is LEFT_OUT else f"a request with {key} {value!r}"
        yield BadMessage(case, what, kept, (name,))


MUCH = 10_000
PLACE = "put it here"
HOSTILE = (
    ("deep-nesting", f"arrays {MUCH} deep", b"[" * MUCH + b"]" * MUCH),
    ("deep-nesting", f"objects {MUCH} deep", b'{"a":' * MUCH + b"1" + b"}" * MUCH),
    ("huge-number", f"an integer of {MUCH} digits", b"9" * MUCH),
    ("huge-number", "a number beyond any range", b"1e" + b"9" * MUCH),
)


@scenario(
    "Messages that are too much", exercises=("negatives.hostile", "negatives.recovers"), transports=BOTH
)
async def drive_hostile(stage: Stage) -> None:
    await offer_each(stage, _hostile_messages(stage))


def _hostile_messages(stage: Stage) -> Iterator[BadMessage]:
    mirrored = {"Mcp-Method": stage.plain} if stage.revision.http.mirrored else {}
    for number, (case, what, value) in enumerate(HOSTILE):
        name = f"hostile-{number}"
        message = encode(plain_request(stage, name, value=PLACE)).replace(encode(PLACE), value)
        yield BadMessage(case, what, message, (name,), mirrored)


REUSED = "reused"
"""The name of the probe, and the id."""
A_LIST = either(declares("tools"), either(declares("prompts"), declares("resources")))


@scenario("An id that is in use", exercises=("negatives.id-reuse",), needs=(A_LIST,), transports=BOTH)
async def drive_id_reuse(stage: Stage) -> None:
    peer = await stage.open()
    listed = next(one for one in LISTS if stage.facts.declares(one.capability))
    async with peer.probe(REUSED):
        both = [await peer.start(method, request_id=REUSED) for method in (listed.method, stage.plain)]
        for pending in both:
            # The second may be ignored; the first is for the check to look for.
            with suppress(NoAnswer):
                await peer.answer(pending)


ENOUGH = 3
"""Tools of which wrong calls are tried."""
UNKNOWN_METHODS = ("no/such/method", "tools/no-such-verb")
UNKNOWN_TOOL = "no-such-tool-of-the-lab"


@scenario(
    "Requests that cannot be served", exercises=("negatives.requests", "negatives.recovers"), transports=BOTH
)
async def drive_requests(stage: Stage) -> None:
    peer = await stage.open()
    tools = await _working(stage, peer)
    await offer_each(stage, _requests_messages(stage, tools), peer)


async def _working(stage: Stage, peer: Peer) -> list[dict[str, Any]]:
    """Tools that only read, and do so with arguments that fit: of others a refusal would prove nothing."""
    named = [one for one in stage.facts.read_only_tools if isinstance(one.get("name"), str)]
    found: list[dict[str, Any]] = []
    for tool in (one for one in named if any(refused_arguments(one))):
        if len(found) < ENOUGH and _is_done(await peer.call(tool, arguments_for(tool))):
            found.append(tool)
    return found


def _is_done(reply: Reply) -> bool:
    done = reply.result.get("resultType", "complete") == "complete"
    return reply.is_result and done and not reply.result.get("isError")


def _requests_messages(stage: Stage, tools: list[dict[str, Any]]) -> Iterator[BadMessage]:
    for method in UNKNOWN_METHODS:
        yield _request(stage, "unknown-method", f"the method {method}", method, {})
    if stage.facts.declares("tools"):
        call = {"name": UNKNOWN_TOOL, "arguments": {}}
        yield _request(stage, "unknown-tool", f"the tool {UNKNOWN_TOOL}", "tools/call", call)
    for tool in tools:
        for number, arguments in enumerate(refused_arguments(tool)):
            what = f"the arguments {arguments!r} of {tool['name']}"
            call = {"name": tool["name"], "arguments": arguments}
            headers = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
            name = f"{tool['name']} {number}"
            yield _request(stage, "invalid-arguments", what, "tools/call", call, name, headers)


def _request(
    stage: Stage,
    case: str,
    what: str,
    method: str,
    params: dict[str, Any],
    name: str = "",
    headers: dict[str, str] | None = None,
) -> BadMessage:
    request_id = f"{case} {name or method}"
    full = declared(stage.revision, params, {})
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": full}
    return BadMessage(case, what, message, (request_id,), headers or {}, answered=True)


BROKEN = (b"this is no JSON", b'{"jsonrpc": "2.0", "id": 1, "method": ping}', b"{'jsonrpc': '2.0'}")


@scenario(
    "Text that is no message",
    exercises=("negatives.text", "negatives.duplicate-keys", "negatives.recovers"),
    transports=BOTH,
)
async def drive_text(stage: Stage) -> None:
    await offer_each(stage, _text_messages(stage))


def _text_messages(stage: Stage) -> Iterator[BadMessage]:
    for text in BROKEN:
        yield BadMessage("malformed", f"{text.decode()!r}", text)
    whole = encode(plain_request(stage, "cut"))
    for length in (1, len(whole) // 2, len(whole) - 1):
        yield BadMessage("truncated", f"the first {length} of {len(whole)} bytes", whole[:length])
    # Where headers repeat the method, they repeat the last: readers keep that one as a rule.
    mirrored = {"Mcp-Method": stage.plain} if stage.revision.http.mirrored else {}
    twice = encode(plain_request(stage, "twice"))
    method = b'{"method":"no/such/method",' + twice[1:]
    yield BadMessage("duplicate-keys", "two methods in one request", method, ("twice",), mirrored)
    again = b'{"id":"once",' + encode(plain_request(stage, "again"))[1:]
    yield BadMessage("duplicate-keys", "two ids in one request", again, ("once", "again"), mirrored)


# --- how it is judged


ROW = "CONF-JRPC-03.batch"


@profile_check("Batches are refused unless they are listed", requirements=(ROW,))
def judge_batch(trace: Trace) -> Iterator[Observation]:
    entries = (one.info.get("entry") for one in trace.marks(REGISTRY))
    welcome = any(batches_are_welcome(entry, trace.revision) for entry in entries)
    for attempt in attempts(trace):
        if attempt.case == "batch":
            # One of nothing is invalid by JSON-RPC itself.
            if welcome and _ids(attempt, trace):
                expected = "a result for each request of a batch, which the registry entry lists"
                right = _is_served(attempt, trace)
            else:
                expected, right = f"{BATCH}", BATCH.takes(attempt)
            yield observe(ROW, right, attempt, expected=expected, observed=attempt)


def _ids(attempt: Attempt, trace: Trace) -> list[str]:
    """Of the requests in the batch."""
    inside = {one.n for one in attempt.inside}
    sent = [one for one in trace.messages if not one.by_subject and one.frame.n in inside]
    return [one.id for one in sent if one.place is not None and isinstance(one.id, str)]


def _is_served(attempt: Attempt, trace: Trace) -> bool:
    answered = [one.id for one in attempt.answers if "result" in one.fields]
    return sorted(map(str, answered)) == sorted(_ids(attempt, trace))


CASES = ("version", "method", "params")


@profile_check(
    "What is nearly a request is refused", requirements=tuple(f"CONF-JRPC-03.{case}" for case in CASES)
)
def judge_envelope(trace: Trace) -> Iterator[Observation]:
    return refused(trace, CASES)


HOSTILE_CASES = ("deep-nesting", "huge-number")


@profile_check(
    "Messages that are too much do no harm",
    requirements=tuple(f"CONF-JRPC-03.{case}" for case in HOSTILE_CASES),
)
def judge_hostile(trace: Trace) -> Iterator[Observation]:
    return unharmed(trace, HOSTILE_CASES)


REUSE = "CONF-JRPC-03.id-reuse"
KEYS = {one.method: one.key for one in LISTS}


@profile_check("An id that is in use disturbs nothing", requirements=(REUSE,))
def judge_id_reuse(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("reused"):
        first = next(iter(probe.sent), None)
        key = None if first is None else KEYS.get(first.method)
        if first is not None and key is not None:
            answers = _answers(probe, first, trace)
            own = [one for one in answers if key in one.result]
            expected = (
                f"one result with {key} for the first request, {first.method}; at most one answer to each"
            )
            observed = " and ".join(map(str, probe.answers)) or "no answer"
            undisturbed = len(own) == 1 and len(probe.answers) <= len(probe.sent)
            yield observe(REUSE, undisturbed, probe, expected=expected, observed=observed)


def _answers(probe: Probe, first: Message, trace: Trace) -> list[Message]:
    """On HTTP, those on the response to the first; elsewhere nothing but their content tells them apart."""
    apart = trace.transport == Transport.HTTP
    return [one for one in probe.answers if not apart or one.frame.channel == first.frame.channel]


REQUESTS_CASES = ("unknown-method", "unknown-tool", "invalid-arguments")


@profile_check(
    "What cannot be served is refused", requirements=tuple(f"CONF-JRPC-03.{case}" for case in REQUESTS_CASES)
)
def judge_requests(trace: Trace) -> Iterator[Observation]:
    return refused(trace, REQUESTS_CASES)


TEXT_CASES = ("malformed", "truncated")


@profile_check(
    "Text that is no message is refused", requirements=tuple(f"CONF-JRPC-03.{case}" for case in TEXT_CASES)
)
def judge_text(trace: Trace) -> Iterator[Observation]:
    return refused(trace, TEXT_CASES)


DUPLICATE_KEYS_CASES = ("duplicate-keys",)


@profile_check(
    "A key that is there twice does no harm",
    requirements=tuple(f"CONF-JRPC-03.{case}" for case in DUPLICATE_KEYS_CASES),
)
def judge_duplicate_keys(trace: Trace) -> Iterator[Observation]:
    return unharmed(trace, DUPLICATE_KEYS_CASES)


RECOVERS = "CONF-JRPC-03.recovers"


@profile_check("A server goes on after a bad message", requirements=(RECOVERS,))
def judge_recovers(trace: Trace) -> Iterator[Observation]:
    for attempt in attempts(trace):
        if attempt.went_on is not None:
            expected = f"a result for the next good request, after {attempt.what}"
            yield observe(RECOVERS, attempt.went_on, attempt, expected=expected, observed=attempt.after)


# --- what the checks must catch


@on_batch("a batch is served", breaks="CONF-JRPC-03.batch")
def batch_served(members: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    if not members:
        return members
    return LocalAnswer(
        [encode_message([{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in members])]
    )


@on_response("a batch is refused with HTTP 200", breaks="CONF-JRPC-03.batch", window=newest_of_each_kind)
def batch_status(response: Response, context: FaultContext) -> None:
    if context.call is not None and context.call.body.startswith(b"["):
        response.status = 200


@on_batch("an empty batch is ignored", breaks="CONF-JRPC-03.batch")
def empty_batch_ignored(members: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    return members or LocalAnswer([])


@on_request("a request without a method gets -32601", breaks="CONF-JRPC-03.method")
def no_method_not_found(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if isinstance(message.get("method"), str) or "id" not in message:
        return message
    error = {"code": METHOD_NOT_FOUND, "message": "there is no such method"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_request("a request with a text for parameters is served", breaks="CONF-JRPC-03.params")
def params_dropped(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if isinstance(message.get("params", {}), dict | list):
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": message.get("id"), "result": {}}])


@on_request("a request is served whatever its `jsonrpc` is", breaks="CONF-JRPC-03.version")
def version_ignored(message: Json, context: FaultContext) -> Json:
    return {**message, "jsonrpc": "2.0"}


@on_reply(
    "a message nested too deep gets -32603", breaks="CONF-JRPC-03.deep-nesting", scenario="negatives.hostile"
)
def nesting_internal(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") not in (PARSE_ERROR, INVALID_REQUEST):
        return reply
    return {**reply, "error": {**error, "code": INTERNAL_ERROR}}


FULL = "full"


@on_reply(
    "after a number too large nothing is served any more",
    breaks="CONF-JRPC-03.huge-number",
    scenario="negatives.hostile",
)
def number_fatal(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") in (PARSE_ERROR, INVALID_REQUEST):
        context.memory[FULL] = True
    if "result" not in reply or not context.memory.get(FULL):
        return reply
    error = {"code": INTERNAL_ERROR, "message": "out of memory"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


@on_request(
    "the first of two requests with one id is refused",
    breaks="CONF-JRPC-03.id-reuse",
    window=newest_of_each_kind,
)
def reused_id_cancels(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id") != "reused" or not str(message.get("method")).endswith("/list"):
        return message
    error = {"code": INVALID_REQUEST, "message": "the id is in use"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": "reused", "error": error}])


@on_request("the first of two requests gets the answer of the second", breaks="CONF-JRPC-03.id-reuse")
def reused_id_crosses(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("id") != "reused" or not str(message.get("method")).endswith("/list"):
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": "reused", "result": {}}])


@on_reply("arguments that do not fit are taken", breaks="CONF-JRPC-03.invalid-arguments")
def arguments_taken(reply: Json, context: FaultContext) -> Json:
    if not str(reply.get("id")).startswith("invalid-arguments"):
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "result": {"content": [{"type": "text", "text": "done"}]}}


@on_reply("an unknown method is answered with a result", breaks="CONF-JRPC-03.unknown-method")
def unknown_method_served(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") != METHOD_NOT_FOUND:
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "result": {}}


@on_response("an unknown method gets HTTP 500", breaks="CONF-JRPC-03.unknown-method")
def unknown_method_status(response: Response, context: FaultContext) -> None:
    if "no-such" in context.method or "no/such" in context.method:
        response.status = 500


@on_reply("a call of an unknown tool succeeds", breaks="CONF-JRPC-03.unknown-tool")
def unknown_tool_served(reply: Json, context: FaultContext) -> Json:
    if not str(context.params.get("name")).startswith("no-such"):
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "result": {"content": []}}


@on_reply("text that is no JSON is ignored", breaks="CONF-JRPC-03.malformed")
def text_ignored(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("error", {}).get("code") == PARSE_ERROR else reply


@on_reply("text that is no JSON gets -32603", breaks="CONF-JRPC-03.malformed", window=newest_of_each_kind)
def text_internal(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    return (
        {**reply, "error": {**error, "code": INTERNAL_ERROR}} if error.get("code") == PARSE_ERROR else reply
    )


@on_reply("a message that breaks off gets -32602", breaks="CONF-JRPC-03.truncated")
def rest_guessed(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    return (
        {**reply, "error": {**error, "code": INVALID_PARAMS}} if error.get("code") == PARSE_ERROR else reply
    )


@on_reply("a request with two methods is answered twice", breaks="CONF-JRPC-03.duplicate-keys")
def key_served_twice(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if reply.get("id") == "twice" else [reply]


LOST = "lost"


@on_reply(
    "after text that is no JSON every request gets -32700",
    breaks="CONF-JRPC-03.recovers",
    scenario="negatives.text",
)
def stays_confused(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == PARSE_ERROR:
        context.memory[LOST] = True
    if "result" not in reply or not context.memory.get(LOST):
        return reply
    error = {"code": PARSE_ERROR, "message": "no JSON"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
