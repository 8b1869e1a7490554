"""The grammar of messages: each rule makes one step out of choices, the plainest where all are nought."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY, VERSION_KEY
from assay.lab.harness.driver.mirrored_header import mirror_headers, param_headers
from assay.lab.harness.transport import Transport

from .case import UNKNOWN, Step
from .certainty import LISTENING
from .choice import Choices
from .ground import Ground
from .odd import Raw, odd_text, odd_value, write
from .schema_value import fitting, is_refused, near_miss

Rule = Callable[[Choices, Ground], Step]
IDS: Final = (101, "a", 0, -1, "", "0", 2**31, 2**53 - 1, "a" * 500, "世🦊", 'q"\\')
ODD_IDS: Final[tuple[Any, ...]] = (
    None,
    1.5,
    1.0,
    True,
    [],
    {},
    2**53,
    2**63,
    2**64,
    -(2**63) - 1,
    "\ud800",
    Raw("1e999"),
)
METHODS: Final = (
    UNKNOWN,
    "",
    "tools",
    "tools/",
    "tools/Call",
    "rpc.x",
    "notifications/",
    "a" * 5000,
    "\ud800",
)
VERSIONS: Final[tuple[Any, ...]] = (None, "1.0", "", "2", 2, 2.0, ["2.0"], "2.0 ", {})
EXTRAS: Final = ("result", "error", "params", "id", "extra", "_meta", "jsonrpc", "")
META_KEYS: Final = (
    "progressToken",
    VERSION_KEY,
    CLIENT_KEY,
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    "traceparent",
    "",
    "a/",
    "io.modelcontextprotocol/unknown",
)
BY_NAME: Final = (
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("completion/complete", "ref"),
)
NAMES: Final[tuple[Any, ...]] = ("", UNKNOWN, "\ud800", " ", "\x00", "../../x", None, 0, [], {}, "a" * 5000)
CUTS: Final = ("half", "last", "tail", "twice", "name twice", "blank", "byte", "text")
Json = dict[str, Any]
Headers = dict[str, str | None]
LONGEST_HEADER: Final = 1000


def step(ground: Ground, message: Any, headers: Headers | None = None) -> Step:
    """A message as the transport carries it; on HTTP with headers besides those that repeat the body."""
    silenced = _unspeakable(ground, message) if is_mirrored(ground) else {}
    return Step(write(message).encode(), tuple({**silenced, **(headers or {})}.items()))


def is_mirrored(ground: Ground) -> bool:
    return ground.transport is Transport.HTTP and ground.revision.http.mirrored is not None


def _unspeakable(ground: Ground, message: Any) -> Headers:
    """Headers that cannot repeat the body as it is, and are left out."""
    repeated = mirror_headers(ground.revision, message)
    return {name: None for name, value in repeated.items() if value is not None and not _fits(value)}


def _fits(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) < LONGEST_HEADER


def an_id(choices: Choices) -> Any:
    """No client uses an id twice, and the handshake has used the first."""
    return choices.unused(IDS)


def _message(choices: Choices, method: Any, params: Any = None) -> Json:
    given = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": an_id(choices), "method": method, **given}


def request(choices: Choices, ground: Ground) -> Step:
    """A request of any method, with parameters that are odd in up to two places."""
    method = choices.pick(ground.methods)
    if method in LISTENING and not choices.chance(6):
        method = ground.plain  # a stream that stays open takes a conversation with it
    params = ground.declared(ground.usual.get(method, {}))
    for _ in range(choices.count(2)):
        params = _changed(choices, params)
    if method == "tools/call" and isinstance(params, dict) and not ground.is_safe(params.get("name")):
        params = {**params, "name": UNKNOWN}
    return step(ground, _message(choices, method, params))


def _changed(choices: Choices, params: Any) -> Any:
    if not isinstance(params, dict) or choices.chance(8):
        return odd_value(choices)
    name = choices.pick([*sorted(params), "cursor", "_meta", "extra"])
    match choices.pick(("empty", "drop", "value", "text", "meta")):
        case "empty":
            return {**params, name: ""}
        case "drop":
            return {key: one for key, one in params.items() if key != name}
        case "value":
            return {**params, name: odd_value(choices)}
        case "text":
            return {**params, name: odd_text(choices)}
    return {**params, "_meta": _meta(choices, params.get("_meta"))}


def _meta(choices: Choices, given: Any) -> Any:
    meta = given if isinstance(given, dict) else {}
    return {**meta, choices.pick(META_KEYS): odd_value(choices)}


def named(choices: Choices, ground: Ground) -> Step:
    """A request for something by a name that nothing has."""
    method, key = choices.pick(BY_NAME)
    name = choices.pick(NAMES)
    params = ground.declared({**ground.usual.get(method, {}), key: name})
    return step(ground, _message(choices, method, params))


def call(choices: Choices, ground: Ground) -> Step:
    """A call of a tool that may be called, with arguments that fit its schema or nearly do."""
    if not ground.tools:
        return request(choices, ground)
    tool = choices.pick(ground.tools)
    schema = tool.get("inputSchema")
    arguments = near_miss(choices, schema) if choices.chance(2) else fitting(choices, schema)
    named = is_mirrored(ground) and isinstance(arguments, dict)
    headers = param_headers(tool, arguments) if named else {}
    spoken: Headers = {name: value for name, value in headers.items() if _fits(value)}
    message = _message(choices, "tools/call", ground.declared({"name": tool["name"], "arguments": arguments}))
    made = step(ground, message, spoken)
    return msgspec.structs.replace(made, at_leisure=not is_refused(arguments, schema))


def identified(choices: Choices, ground: Ground) -> Step:
    """A plain request with an id that is none."""
    message = _message(choices, ground.plain, ground.declared({}))
    return step(ground, {**message, "id": choices.pick(ODD_IDS)})


def unknown(choices: Choices, ground: Ground) -> Step:
    """A method that there is not."""
    params = ground.declared({}) if choices.chance(2) or ground.declared({}) else None
    return step(ground, _message(choices, choices.pick(METHODS), params))


def enveloped(choices: Choices, ground: Ground) -> Step:
    """A message whose own members are not as they should be."""
    message = _message(choices, ground.plain, ground.declared({}))
    match choices.pick(("version", "extra", "drop", "method", "params")):
        case "version":
            return step(ground, {**message, "jsonrpc": choices.pick(VERSIONS)})
        case "extra":
            return step(ground, {**message, choices.pick(EXTRAS): odd_value(choices)})
        case "drop":
            name = choices.pick(sorted(message))
            return step(ground, {key: one for key, one in message.items() if key != name})
        case "method":
            return step(ground, {**message, "method": odd_value(choices)})
    return step(ground, {**message, "params": odd_value(choices)})


def notice(choices: Choices, ground: Ground) -> Step:
    """A notification, known or not, with parameters that may be odd."""
    method = choices.pick([*ground.notices, "notifications/of-the-lab", UNKNOWN])
    params: Any = ground.usual.get(method, {})
    for _ in range(choices.count(2)):
        params = _changed(choices, params)
    return step(ground, {"jsonrpc": "2.0", "method": method, "params": params})


def response(choices: Choices, ground: Ground) -> Step:
    """An answer to a question that was not asked."""
    outcome = choices.pick(("result", "error"))
    return step(ground, {"jsonrpc": "2.0", "id": an_id(choices), outcome: odd_value(choices)})


def bare(choices: Choices, ground: Ground) -> Step:
    """Any JSON in place of a message."""
    return step(ground, odd_value(choices))


def malformed(choices: Choices, ground: Ground) -> Step:
    """What was a message before something happened to it."""
    body = request(choices, ground).body if choices.chance(2) else write(_plain(choices, ground)).encode()
    return Step(_spoilt(choices, body), _described(ground))


def _plain(choices: Choices, ground: Ground) -> Json:
    return _message(choices, ground.plain, ground.declared({}))


def _described(ground: Ground) -> tuple[tuple[str, str | None], ...]:
    """Headers for a body that cannot be read, so that it is not refused before anybody tries."""
    return (("Mcp-Method", ground.plain),) if is_mirrored(ground) else ()


def _spoilt(choices: Choices, body: bytes) -> bytes:
    match choices.pick(CUTS):
        case "half":
            return body[: 1 + choices.count(min(len(body), 200))]
        case "last":
            return body[:-1]
        case "tail":
            return body + choices.pick((b"}", b",", b"\x00", b"x", b" {}", b"\r", b"\xff"))
        case "twice":
            return body + body
        case "name twice":
            return b'{"id":7,' + body[1:]
        case "blank":
            return choices.pick((b"", b" ", b"\r", b"\t", b"\xef\xbb\xbf" + body, b" " + body + b" "))
        case "byte":
            at = choices.count(min(len(body), 200) - 1) if body else 0
            return (
                body[:at] + choices.pick((b"\xff", b"\x00", b"\xed\xa0\x80", b'"', b"\\", b"[")) + body[at:]
            )
    return odd_text(choices).encode("utf-8", "surrogatepass").replace(b"\n", b" ")


def batch(choices: Choices, ground: Ground) -> Step:
    """Several messages in one array, or none, or what is no message."""
    makers = (request, notice, unknown, bare)
    members = [choices.pick(makers)(choices, ground).body for _ in range(choices.count(4))]
    return Step(b"[" + b",".join(members) + b"]", _described(ground))


MESSAGES: Final[tuple[Rule, ...]] = (
    request,
    named,
    call,
    unknown,
    malformed,
    enveloped,
    identified,
    notice,
    response,
    bare,
    batch,
)
