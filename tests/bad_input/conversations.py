"""Rows about order and revision: messages that are bad only in their context."""

from __future__ import annotations

from assay.model.error import INVALID_PARAMS, INVALID_REQUEST
from assay.revisions.registry import HANDSHAKE, REVISIONS
from assay.revisions.revision import Batching, Revision
from tests.bad_input.messages import PING, message
from tests.bad_input.row import (
    NOTHING,
    Answer,
    Failed,
    Head,
    Listed,
    Reply,
    Row,
    Served,
    Setting,
    both,
    on_http,
    on_stdio,
)
from tests.bad_input.subject import BATCH
from tests.driving.messages import initialize

TOOLS = message(id=1, method="tools/list")
NOT_YET = Failed(INVALID_PARAMS, 1, "not initialized")
NEEDED = Failed(INVALID_REQUEST, 1, "session required")
DESCRIBED = {"_meta": {"io.modelcontextprotocol/protocolVersion": REVISIONS[-1].date}}
FRESH, REQUIRED = Setting.FRESH, Setting.REQUIRED


def opening(revision: Revision | str) -> bytes:
    return message(**initialize(revision))


def opening_with(**params: object) -> bytes:
    return message(id=1, method="initialize", params=params)


ORDER = [
    on_stdio(
        "a request before `initialize`",
        TOOLS,
        (NOT_YET,),
        "the error lists the supported versions, so that any client can recover",
        setting=FRESH,
    ),
    on_stdio("`ping` before `initialize`", PING, (Served(1),), "lifecycle: pings are allowed", setting=FRESH),
    on_stdio(
        "`notifications/initialized` before `initialize`",
        message(method="notifications/initialized"),
        (),
        "ignored; the handshake has not happened yet",
        setting=FRESH,
    ),
    on_stdio(
        "a result before `initialize`",
        message(id="assay-1", result={}),
        (),
        "it answers no request",
        setting=FRESH,
    ),
    on_http(
        "a request without a session",
        TOOLS,
        NEEDED,
        "transports: 400 where sessions are required",
        setting=REQUIRED,
    ),
    on_http(
        "`ping` without a session",
        PING,
        NEEDED,
        "transports: 400 where sessions are required",
        setting=REQUIRED,
    ),
    on_http(
        "a notification without a session",
        message(method="notifications/initialized"),
        Failed(INVALID_REQUEST, text="session required"),
        "transports: 400 where sessions are required",
        setting=REQUIRED,
    ),
    on_http(
        "a result without a session",
        message(id="assay-1", result={}),
        Failed(INVALID_REQUEST, text="never sent"),
        "it answers no request",
        setting=Setting.ALONE,
    ),
]

INITIALIZE_PARAMS = "`initialize` needs its three parameters; on HTTP 200, and no session is opened"
FIRST = [
    *(
        both(
            f"a second `initialize`, {revision.date}",
            opening(revision),
            Failed(INVALID_REQUEST, "initialize", "already initialized"),
            "a session is initialized once",
            revision=revision,
        )
        for revision in HANDSHAKE
    ),
    on_stdio(
        "`initialize` without parameters",
        opening_with(),
        (Failed(INVALID_PARAMS, 1),),
        INITIALIZE_PARAMS,
        setting=FRESH,
    ),
    on_http(
        "`initialize` without parameters, over HTTP",
        opening_with(),
        Failed(INVALID_PARAMS, 1),
        INITIALIZE_PARAMS,
        setting=Setting.ALONE,
    ),
    on_http(
        "`initialize` with a number as version",
        opening_with(protocolVersion=1),
        Failed(INVALID_PARAMS, 1),
        INITIALIZE_PARAMS,
        setting=Setting.ALONE,
    ),
    on_http(
        "`initialize` with an unknown version",
        opening("1999-01-01"),
        Answer(Served("initialize"), 200, header="mcp-session-id"),
        "lifecycle: answer with another version",
        setting=Setting.ALONE,
    ),
    on_http(
        "`initialize` with an unknown version header",
        opening(HANDSHAKE[-1]),
        Answer(Served("initialize"), 200, header="mcp-session-id"),
        "the header counts after the handshake",
        setting=Setting.ALONE,
        head=Head(changed=(("mcp-protocol-version", "1999-01-01"),)),
    ),
    on_http(
        "`initialize` as a notification",
        message(method="initialize"),
        Answer(NOTHING, 202),
        "without an id it opens no session",
        setting=Setting.ALONE,
    ),
]


def batch(*members: bytes) -> bytes:
    return b"[" + b",".join(members) + b"]"


NO_BATCHES = Failed(INVALID_REQUEST, text="batches are not part")
BATCHES = {Batching.ACCEPTED: "this revision has batches", Batching.REFUSED: "this revision has no batches"}


def batch_reply(revision: Revision, reply: Reply) -> Reply:
    return reply if revision.batching is Batching.ACCEPTED else NO_BATCHES


def batch_rows(revision: Revision) -> list[Row]:
    reply, because = batch_reply(revision, Listed((Served(1),))), BATCHES[revision.batching]
    return [
        both(f"one request, {revision.date}", batch(PING), reply, because, revision=revision),
        on_http(
            f"one request, {revision.date}, without a session",
            batch(PING),
            reply,
            because,
            revision=revision,
            setting=Setting.ALONE,
        ),
        both(
            f"empty, {revision.date}",
            b"[]",
            Failed(INVALID_REQUEST, text="must not be empty"),
            "JSON-RPC 2.0, 6: an invalid request",
            revision=revision,
        ),
    ]


WITH_BATCHES = next(revision for revision in HANDSHAKE if revision.batching is Batching.ACCEPTED)
NO_OBJECT = Failed(INVALID_REQUEST, text="must be a JSON object")


def in_batch(name: str, sent: bytes, reply: Reply, because: str) -> Row:
    return both(f"{name}, {WITH_BATCHES.date}", sent, reply, because, revision=WITH_BATCHES)


GROUPED = [
    *(row for revision in HANDSHAKE for row in batch_rows(revision)),
    on_http(
        "no session and no version header",
        batch(PING),
        NO_BATCHES,
        "an absent header does not show that the client knows batches",
        setting=Setting.ALONE,
        head=Head(without=("mcp-protocol-version",)),
    ),
    in_batch(
        "a bad member among good ones",
        batch(PING, b"7", message(id=2, method="no/such")),
        Listed((Served(1), NO_OBJECT, Failed(-32601, 2))),
        "each member is answered separately",
    ),
    in_batch(
        "`initialize` inside",
        batch(message(id=2, method="initialize"), PING),
        Listed((Failed(INVALID_REQUEST, 2, "must not be part of a batch"), Served(1))),
        "lifecycle: it must not be part of a batch",
    ),
    in_batch("a batch inside", batch(batch(PING)), Listed((NO_OBJECT,)), "members are messages"),
    in_batch(
        "notifications only",
        batch(message(method="notifications/initialized")),
        NOTHING,
        "notifications are not answered",
    ),
    in_batch(
        "one member too many",
        batch(*[PING] * (BATCH + 1)),
        Failed(INVALID_REQUEST, text="batch too large"),
        "bounded by `limits.batch`, here 10",
    ),
    in_batch(
        "a member that describes itself",
        batch(PING, message(id=2, method="tools/list", params=DESCRIBED)),
        NO_BATCHES,
        "its revision has no batches",
    ),
    in_batch(
        "bad JSON inside",
        b'[{"jsonrpc":"2.0"',
        Failed(-32700, text="parse error"),
        "the body as a whole is not JSON",
    ),
]

SECTIONS = {"Order": ORDER, "Initialize": FIRST, "Batches": GROUPED}
