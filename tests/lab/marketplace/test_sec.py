"""What the checks of the area sec see in traffic that no server would show today."""

from collections.abc import Sequence

import pytest

from assay.lab.harness.subject.bearer import (
    ALTERED,
    EXPIRED,
    FOREIGN,
    FORGED,
    GARBAGE,
    MALFORMED,
    NONE,
    NOT_YET,
    OTHER_ISSUER,
    SKEWED,
    STRANGER,
    UNSIGNED,
    USUAL,
    WEAK,
)
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.marketplace.security.access import GRANTED, granted_to
from assay.lab.suites import suite_named
from tests.lab.suite.admitted import call, trace

URL = "http://localhost:1/.well-known/oauth-protected-resource/mcp"
ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}}
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {}}
TOKEN = {"Authorization": "[redacted]"}
TOOLS = "GET /.well-known/mcp-tools"


def challenge(value: str) -> dict[str, str]:
    return {"WWW-Authenticate": value}


FULL = challenge(f'Bearer resource_metadata="{URL}", scope="read write"')


def seen(check: str, made: Trace) -> list[tuple[str, bool]]:
    """Observations as the last word of the row, and whether it holds."""
    found = suite_named("marketplace").checks[f"sec.{check}"].judge(made)
    return [(one.requirement.rpartition(".")[2], one.holds) for one in found]


@pytest.mark.parametrize(
    ("check", "frames", "expected"),
    [
        ("no-token", call(NONE, 401, got=FULL), [("no-token", True)]),
        ("no-token", call(NONE, 401), [("no-token", False)]),
        ("no-token", call(NONE, 401, got=challenge('Bearer scope="x"')), [("no-token", False)]),
        ("no-token", call(NONE, 403, got=FULL), [("no-token", False)]),
        ("no-token", call(NONE, 200, says=RESULT), [("no-token", False)]),
        ("no-token", call(NONE, 405, does="GET /mcp"), []),
        ("no-token", call(NONE, 405, does="POST /mcp"), [("no-token", False)]),
        ("no-token", call(USUAL, 200, sent=TOKEN, says=RESULT), []),
        ("no-token", call(USUAL, 200, says=RESULT), [("no-token", False)]),
        ("no-token", call(NONE, 200, does=TOOLS), []),
        ("bad-tokens", call(MALFORMED, 400), [("malformed", True)]),
        ("bad-tokens", call(MALFORMED, 403), [("malformed", False)]),
        ("bad-tokens", call(GARBAGE, 400), [("malformed", False)]),
        ("bad-tokens", call(ALTERED, 401), [("signature", True)]),
        ("bad-tokens", call(ALTERED, 200, says=ERROR), [("signature", False)]),
        ("bad-tokens", call(UNSIGNED, 200, says=RESULT), [("unsigned", False)]),
        ("bad-tokens", call(FORGED, 200, says=RESULT), [("forged", False)]),
        ("bad-tokens", call(STRANGER, 401), [("forged", True)]),
        ("expired", call(EXPIRED, 403), [("expired", False)]),
        ("not-yet", call(NOT_YET, 401), [("not-yet", True)]),
        ("not-yet", call(NOT_YET, 200, says=RESULT), [("not-yet", False)]),
        ("skew", call(SKEWED, 200, says=RESULT), [("skew", True)]),
        ("skew", call(SKEWED, 401), [("skew", False)]),
        ("audience", call(FOREIGN, 200, says=RESULT), [("audience", False)]),
        ("issuer", call(OTHER_ISSUER, 401), [("issuer", True)]),
        ("query", call(NONE, 200, does="POST /mcp?access_token=x", says=RESULT), [("query", False)]),
        ("query", call(NONE, 401, does="POST /mcp?access_token=x"), [("query", True)]),
        ("query", call(NONE, 401), []),
        ("scope", call(WEAK, 403, got=challenge('Bearer error="insufficient_scope"')), [("scope", True)]),
        ("scope", call(WEAK, 401, got=challenge('Bearer error="insufficient_scope"')), [("scope", False)]),
        ("scope", call(WEAK, 403), [("scope", False)]),
        ("scope", call(WEAK, 404), []),
        ("foreign-pages", call(USUAL, 403, sent={"Origin": "http://a.example"}), [("origin", True)]),
        ("foreign-pages", call(USUAL, 400, sent={"Origin": "http://a.example"}), [("origin", False)]),
        ("foreign-pages", call(USUAL, 200, sent={"Origin": "http://localhost:9"}, says=RESULT), []),
        ("foreign-pages", call(USUAL, 421, sent={"Host": "a.example"}), [("host", True)]),
        ("foreign-pages", call(USUAL, 200, sent={"Host": "a.example"}, says=RESULT), [("host", False)]),
    ],
)
def test_one_request_is_judged_by_what_it_showed_and_what_came_of_it(
    check: str, frames: Sequence[Frame], expected: list[tuple[str, bool]]
) -> None:
    assert seen(check, trace([*frames])) == expected


def weak(granted: list[str] | None, *calls: list[Frame]) -> Trace:
    """Nobody is asked for two scopes; then these, with a token that has those."""
    made = trace(call(NONE, 401, got=FULL), *calls)
    info = {"label": GRANTED, "scopes": granted}
    note = Frame(len(made.frames), 1.0, Sender.DRIVER, "beside/notes", Kind.MARK, info=info)
    return Trace(made.header, [*made.frames, note])


SERVED = call(WEAK, 200, sent=TOKEN, says=RESULT)
REFUSED = call(WEAK, 403, sent=TOKEN, got=challenge('Bearer error="insufficient_scope"'))


@pytest.mark.parametrize(
    ("granted", "calls", "expected"),
    [
        (["read"], (SERVED, SERVED), [("scope", False)]),
        (["read"], (SERVED, REFUSED), [("scope", True)]),
        (["read", "write"], (SERVED,), []),
        (None, (SERVED,), []),
    ],
)
def test_who_serves_everything_without_the_scopes_that_it_asks_for_does_not_look_at_them(
    granted: list[str] | None, calls: tuple[list[Frame], ...], expected: list[tuple[str, bool]]
) -> None:
    assert seen("scope", weak(granted, *calls)) == expected


@pytest.mark.parametrize(
    ("with_token", "without", "expected"),
    [
        (200, 401, [("manifests", True)]),
        (200, 200, [("manifests", False)]),
        (200, 404, [("manifests", False)]),
        (404, 404, []),
        (404, 200, [("manifests", False)]),
    ],
)
def test_manifests_that_somebody_sees_take_a_token(
    with_token: int, without: int, expected: list[tuple[str, bool]]
) -> None:
    shown = call(USUAL, with_token, does=TOOLS, sent=TOKEN, says=[])
    hidden = call(NONE, without, does=TOOLS, says=[])
    assert seen("manifests", trace(shown, hidden)) == expected


@pytest.mark.parametrize(
    ("token", "scopes"),
    [
        ("e30.eyJzY29wZSI6ImEgYiJ9.x", ["a", "b"]),
        ("e30.eyJzY3AiOlsiYSJdfQ.x", ["a"]),
        ("e30.e30.x", None),
        ("opaque", None),
    ],
)
def test_scopes_of_a_token_are_read_where_it_says_them(token: str, scopes: list[str] | None) -> None:
    assert granted_to(token) == scopes
