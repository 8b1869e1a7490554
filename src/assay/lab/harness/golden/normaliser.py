"""Normalisers: what may differ between two recordings of an unchanged server, each declared with a reason.

Whatever no normaliser names is compared byte for byte. A value keeps its relations: where the same session id
stands twice, the same name stands twice.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final

from msgspec import Struct

from assay.lab.harness.subject.process_pool import CONTINUED
from assay.lab.harness.trace.frame import Frame, Kind

from .json_place import Steps, steps_of


class Method(Enum):
    NAME = "name"
    """Each value gets a name by the order in which it first appears, the same wherever it stands."""
    IGNORE = "ignore"
    """Any value is as good as any other of its type."""


class Volatile(Struct, frozen=True, forbid_unknown_fields=True):
    """Values that differ: in messages by pointer, in HTTP heads by header, in event streams by field."""

    name: str
    reason: str
    method: Method = Method.NAME
    pointers: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Steps, ...]:
        return tuple(map(steps_of, self.pointers))


class MadeUp(Struct, frozen=True):
    """Values about a client that are another each time, named wherever they stand: found by the name of a
    parameter or member beside the endpoint, by header, or by their look."""

    name: str
    reason: str
    keys: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    pattern: str = ""
    """A regular expression; what is named is its group, if it has one."""


class LeftOut(Struct, frozen=True):
    """Frames that are not compared."""

    name: str
    reason: str
    covers: Callable[[Frame], bool]


class Rule(Struct, frozen=True):
    """Something that is built into how frames are compared."""

    name: str
    reason: str


def _is_remark(frame: Frame) -> bool:
    return frame.kind is Kind.MARK and frame.info.get("label") == CONTINUED


def _keeps_alive(frame: Frame) -> bool:
    if frame.kind is Kind.CONTROL:
        return frame.info.get("what") in ("ping", "pong")
    lines = frame.raw.splitlines()
    return frame.kind is Kind.EVENT and all(not line or line.startswith(b":") for line in lines)


VALUES: Final = (
    Volatile(
        "session id",
        "a server makes them up, and must not make them guessable",
        headers=("mcp-session-id",),
    ),
    Volatile(
        "event id",
        "a server makes them up; only where a stream goes on after one matters",
        headers=("last-event-id",),
        fields=("id",),
    ),
    Volatile(
        "cursor",
        "opaque by definition; the next page must be asked for with the same",
        pointers=("/result/nextCursor", "/params/cursor"),
    ),
    Volatile(
        "request state",
        "opaque by definition, and sealed with chance in it",
        pointers=("/result/requestState", "/params/requestState"),
    ),
    Volatile(
        "task id",
        "a server makes them up",
        pointers=("/**/taskId",),
    ),
    Volatile(
        "elicitation id",
        "a server makes them up",
        pointers=("/**/elicitationId",),
    ),
    Volatile(
        "time",
        "fields that the specification defines as a moment",
        Method.IGNORE,
        pointers=("/**/createdAt", "/**/lastUpdatedAt", "/**/lastModified"),
    ),
    Volatile(
        "header of one exchange",
        "they tell when, how long, or which exchange it was, and nothing of what was said",
        Method.IGNORE,
        headers=(
            *("date", "age", "expires", "server-timing", "x-runtime", "x-response-time"),
            *("x-request-id", "x-correlation-id", "request-id", "traceparent", "cf-ray"),
        ),
    ),
)

CLIENT_VALUES: Final = (
    Volatile(
        "progress token",
        "a client makes them up",
        pointers=("/params/_meta/progressToken", "/params/progressToken"),
    ),
    Volatile(
        "tool use id",
        "a model makes them up; the result must name the same",
        pointers=("/**/content/id", "/**/content/*/id", "/**/toolUseId"),
    ),
    Volatile(
        "subscription id",
        "the id of the request that opened it, which a client makes up",
        pointers=("/**/io.modelcontextprotocol~1subscriptionId",),
    ),
    Volatile(
        "trace context",
        "it tells which exchange it was, and nothing of what was said",
        Method.IGNORE,
        pointers=("/params/_meta/traceparent", "/params/_meta/tracestate"),
    ),
    Volatile(
        "key of a WebSocket",
        "chance by definition, and what follows from it",
        Method.IGNORE,
        headers=("sec-websocket-key", "sec-websocket-accept"),
    ),
    Volatile(
        "moment of registration",
        "the clock of the authorization server",
        Method.IGNORE,
        pointers=("/client_id_issued_at", "/client_secret_expires_at"),
    ),
)
"""Besides, where a client is judged."""

MADE_UP: Final = (
    MadeUp(
        "port",
        "the lab listens on free ports of this machine, and so may a client for its redirects",
        pattern=r"(?i:localhost|0\.0\.0\.0|127\.0\.0\.1|\[::1\]|%5B%3A%3A1%5D)(?::|%3A)(\d{2,5})(?!\d)",
    ),
    MadeUp("client", "who registers is given a name by chance", keys=("client_id", "client_secret")),
    MadeUp("code", "an authorization server makes them up", keys=("code",)),
    MadeUp("state", "a client makes it up, and must not make it guessable", keys=("state",)),
    MadeUp("proof of a code", "a client makes it up (PKCE)", keys=("code_challenge", "code_verifier")),
    MadeUp(
        "token",
        "signed, with times and chance in them",
        keys=(
            *("access_token", "refresh_token", "id_token", "subject_token", "actor_token"),
            *("assertion", "client_assertion", "jwt", "token"),
        ),
        pattern=r"\beyJ[\w-]+\.[\w-]+\.[\w-]*",
    ),
    MadeUp("nonce", "good once", keys=("nonce", "jti"), headers=("dpop-nonce",)),
    MadeUp(
        "key",
        "the lab and its guests make keys anew",
        keys=("n", "x", "y", "kid", "jkt"),
        pattern=r"-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----",
    ),
)

QUESTIONS: Final = Volatile(
    "id of a question", "the subject makes up the ids of its own requests; the answer must carry the same"
)
ENDPOINT: Final = Volatile(
    "endpoint of messages", "HTTP+SSE tells at which address to go on, with a session in it"
)
"""Both are found by what the messages are, not by a place."""

LEFT_OUT: Final = (
    LeftOut(
        "standard error",
        "free text beside the protocol, with times and process ids, on a channel of its own pace",
        lambda frame: frame.kind is Kind.ERRORS,
    ),
    LeftOut("keep-alive", "comments, pings and pongs come by the clock", _keeps_alive),
    LeftOut("remarks on processes", "which scenario used a process before says nothing of it", _is_remark),
)

SENTINELS: Final = Rule("sentinels", "the driver sends them only to see that all before them is done")
LEFT_EARLY: Final = Rule(
    "hung up early",
    "an answer without an id stands for any, also for a sentinel: the driver goes on, and may miss the rest",
)
ORDER: Final = Rule(
    "order of what happens at once",
    "two sides, two streams and two requests have no order among them; each alone has one",
)
OPEN_STREAMS: Final = Rule(
    "ends of open streams", "the driver hangs up on a stream that stays open, after more of it or less"
)
PIECES: Final = Rule("pieces", "in how many pieces a line was written, nobody can tell who reads it")
RETURNS: Final = Rule(
    "later returns",
    "a client comes back to a stream that always ends at a pace of its own; its first return is compared",
)
ADDRESS: Final = Rule("address", "the port of a server that the lab starts is another one each time")
LENGTH: Final = Rule(
    "content-length", "it follows from the body, where a named value may be longer; a wrong one is compared"
)
MOMENTS: Final = Rule("moments", "when a frame passed, and its number among those of other channels")

BUILT_IN: Final = (SENTINELS, LEFT_EARLY, ORDER, PIECES, OPEN_STREAMS, RETURNS, ADDRESS, LENGTH, MOMENTS)
