"""The routes of decoded messages."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from assay.model.error import INVALID_PARAMS, INVALID_REQUEST, MalformedMessage
from assay.model.jsonrpc import Envelope
from assay.protocol.http.head_policy import Admission, Refusal
from assay.protocol.http.policy import Sessions
from assay.protocol.http.route import SESSIONLESS, InSession, OpenSession, route, session_gone
from assay.revisions.registry import ASSUMED, BY_DATE, DATES

REQUEST = Envelope("2.0", id=7, method="tools/list")
INITIALIZE = Envelope("2.0", id=7, method="initialize")
NOTE = Envelope("2.0", method="notifications/cancelled")
RESPONSE = Envelope("2.0", id=7, result=Raw(b"{}"))
BATCH: list[Envelope | MalformedMessage] = [REQUEST]
SELF_DESCRIBING = Envelope("2.0", id=7, method="server/discover")
ABSENT, UNKNOWN = Admission(None, None, ()), Admission(None, "1999-01-01", ())
FIRST, BATCHING, NEWEST, PER_REQUEST = (
    Admission(BY_DATE[date], None, ()) for date in ("2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28")
)
OPTIONAL, REQUIRED, OFF = Sessions.OPTIONAL, Sessions.REQUIRED, Sessions.OFF


@pytest.mark.parametrize(
    ("payload", "admission", "header", "sessions", "expected"),
    [
        (INITIALIZE, ABSENT, None, OPTIONAL, OpenSession()),
        (INITIALIZE, ABSENT, None, REQUIRED, OpenSession()),
        (INITIALIZE, ABSENT, None, OFF, SESSIONLESS[ASSUMED]),
        (INITIALIZE, NEWEST, None, OPTIONAL, OpenSession()),
        # A client of a future revision names that revision, and learns ours from the answer.
        (INITIALIZE, UNKNOWN, None, OPTIONAL, OpenSession()),
        (INITIALIZE, UNKNOWN, None, OFF, SESSIONLESS[ASSUMED]),
        (INITIALIZE, PER_REQUEST, None, OPTIONAL, OpenSession()),
        (INITIALIZE, ABSENT, b"s1", OPTIONAL, InSession("s1")),
        (REQUEST, NEWEST, b"s1", OPTIONAL, InSession("s1")),
        (REQUEST, ABSENT, b"s1", REQUIRED, InSession("s1")),
        (REQUEST, NEWEST, b"s1", OFF, SESSIONLESS[NEWEST.revision]),
        (REQUEST, NEWEST, None, OPTIONAL, SESSIONLESS[NEWEST.revision]),
        (REQUEST, FIRST, None, OPTIONAL, SESSIONLESS[FIRST.revision]),
        (REQUEST, ABSENT, None, OPTIONAL, SESSIONLESS[ASSUMED]),
        (REQUEST, ABSENT, None, OFF, SESSIONLESS[ASSUMED]),
        (BATCH, NEWEST, b"s1", OPTIONAL, InSession("s1")),
        (BATCH, BATCHING, None, OPTIONAL, SESSIONLESS[BATCHING.revision]),
        (BATCH, BATCHING, None, OFF, SESSIONLESS[BATCHING.revision]),
        # Notifications have no mirror headers, and the endpoint refuses responses.
        (NOTE, PER_REQUEST, b"s1", REQUIRED, SESSIONLESS[PER_REQUEST.revision]),
        (RESPONSE, PER_REQUEST, b"s1", REQUIRED, SESSIONLESS[PER_REQUEST.revision]),
    ],
)
def test_route(
    payload: Any, admission: Admission, header: bytes | None, sessions: Sessions, expected: Any
) -> None:
    assert route(payload, admission, session_header(header), sessions) == expected


def session_header(value: bytes | None) -> dict[bytes, bytes]:
    return {} if value is None else {b"mcp-session-id": value}


@pytest.mark.parametrize(
    ("payload", "admission", "header", "sessions", "request_id"),
    [
        (REQUEST, ABSENT, None, REQUIRED, 7),
        (REQUEST, NEWEST, None, REQUIRED, 7),
        (BATCH, BATCHING, None, REQUIRED, None),
        (BATCH, UNKNOWN, None, OPTIONAL, None),
        (BATCH, ABSENT, None, OPTIONAL, None),
        (BATCH, NEWEST, None, OPTIONAL, None),
        (BATCH, FIRST, None, OFF, None),
        (BATCH, PER_REQUEST, None, OPTIONAL, None),
    ],
)
def test_refusal(
    payload: Any, admission: Admission, header: bytes | None, sessions: Sessions, request_id: int | None
) -> None:
    refusal = route(payload, admission, session_header(header), sessions)
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.code, refusal.request_id) == (400, INVALID_REQUEST, request_id)


@pytest.mark.parametrize(
    ("payload", "admission", "header"),
    [
        (REQUEST, UNKNOWN, None),
        (REQUEST, UNKNOWN, b"s1"),
        (REQUEST, PER_REQUEST, None),
        (REQUEST, PER_REQUEST, b"s1"),
        (SELF_DESCRIBING, ABSENT, None),
        (SELF_DESCRIBING, NEWEST, b"s1"),
    ],
)
def test_request_without_its_declaration_is_refused_with_what_is_missing(
    payload: Envelope, admission: Admission, header: bytes | None
) -> None:
    prefix = "io.modelcontextprotocol/"
    assert route(payload, admission, session_header(header), OPTIONAL) == Refusal(
        400,
        f"_meta needs {prefix}protocolVersion and {prefix}clientCapabilities",
        code=INVALID_PARAMS,
        request_id=7,
        data={"supported": [*reversed(DATES)]},
    )


def test_batch_of_an_unsupported_version_gets_the_supported_ones() -> None:
    refusal = route(BATCH, UNKNOWN, {}, OPTIONAL)
    assert isinstance(refusal, Refusal)
    assert [date for date in ("1999-01-01", *DATES) if date not in refusal.reason] == []


def test_session_that_is_gone_is_not_found() -> None:
    refusal = session_gone(REQUEST)
    assert (refusal.status, refusal.code, refusal.request_id) == (404, INVALID_REQUEST, 7)
