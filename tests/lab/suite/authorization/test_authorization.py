"""What the checks of authorization see in traffic that no server would show today."""

from collections.abc import Sequence
from typing import Any

import pytest

from assay.lab.harness.subject.bearer import (
    CAPITALS,
    EXPIRED,
    FOREIGN,
    GARBAGE,
    MALFORMED,
    NONE,
    OTHER_ISSUER,
    STEPPED,
    USUAL,
    WEAK,
)
from assay.lab.harness.trace.frame import Frame
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.suite.admitted import call, trace
from tests.lab.suite.judging import seen

ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}}
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {}}
URL = "http://localhost:1/.well-known/oauth-protected-resource/mcp"
FULL = f'Bearer error="insufficient_scope", scope="read", resource_metadata="{URL}"'
WELL_KNOWN = "GET /.well-known/oauth-protected-resource"


def challenge(value: str) -> dict[str, str]:
    return {"WWW-Authenticate": value}


@pytest.mark.parametrize(
    ("check", "frames", "expected"),
    [
        ("missing-token", call(NONE, 401), [("AU-05", True)]),
        ("missing-token", call(NONE, 403), [("AU-05", False)]),
        ("missing-token", call(NONE, 200, says=ERROR), [("AU-05", False)]),
        ("missing-token", call(NONE, 404, does=WELL_KNOWN), []),
        ("missing-token", call(USUAL, 200, says=RESULT), []),
        ("missing-token", call(NONE, 101, does="GET /ws", sent={"Upgrade": "websocket"}), [("AU-05", False)]),
        ("bad-token", call(GARBAGE, 401), [("AU-63", True), ("AU-05", True), ("AU-65", True)]),
        ("bad-token", call(EXPIRED, 400), [("AU-63", True), ("AU-05", False), ("AU-65", False)]),
        (
            "bad-token",
            call(EXPIRED, 200, says=RESULT),
            [("AU-63", False), ("AU-05", False), ("AU-65", False)],
        ),
        ("bad-token", call(EXPIRED, 200, says=ERROR), [("AU-63", True), ("AU-05", False), ("AU-65", False)]),
        ("malformed-token", call(MALFORMED, 400), [("AU-06", True)]),
        ("malformed-token", call(MALFORMED, 401), [("AU-06", True)]),
        ("malformed-token", call(MALFORMED, 500), [("AU-06", False)]),
        ("foreign-token", call(FOREIGN, 401), [("AU-64", True), ("AU-66", True), ("SEC-05", True)]),
        ("foreign-token", call(FOREIGN, 202), [("AU-64", False), ("AU-66", False), ("SEC-05", False)]),
        ("foreign-token", call(OTHER_ISSUER, 200, says=RESULT), [("AU-66", False)]),
        ("query-token", call(NONE, 401, does="POST /mcp?access_token=x"), [("AU-63", True)]),
        ("query-token", call(NONE, 200, does="POST /mcp?access_token=x", says=RESULT), [("AU-63", False)]),
        ("query-token", call(NONE, 401), []),
        ("challenge", call(NONE, 401), []),
        ("challenge", call(NONE, 401, got=challenge('Bearer scope="read"')), [("AU-14", True)]),
        ("small-scope", call(WEAK, 404), []),
        ("challenge", call(NONE, 403), []),
        ("small-scope", call(WEAK, 403, got=challenge(FULL)), [("AU-06", True), ("AU-69", True)]),
        ("small-scope", call(WEAK, 401, got=challenge(FULL)), [("AU-06", False), ("AU-69", False)]),
        ("small-scope", call(WEAK, 403), [("AU-06", True), ("AU-69", False)]),
        ("small-scope", call(WEAK, 200, says=RESULT), []),
        ("step-up", call(STEPPED, 200, says=RESULT), [("AU-70", True)]),
        ("step-up", call(STEPPED, 403), [("AU-70", False)]),
        ("capitals", call(CAPITALS, 200, says=RESULT), [("AU-60", True)]),
        ("capitals", call(CAPITALS, 401), [("AU-60", False)]),
    ],
)
def test_one_request_is_judged_by_what_it_showed_and_what_came_of_it(
    check: str, frames: Sequence[Frame], expected: list[tuple[str, bool]]
) -> None:
    assert seen(f"authorization.{check}", trace([*frames])) == expected


METADATA: dict[str, Any] = {
    "resource": "http://localhost:1/mcp",
    "authorization_servers": ["https://a.example"],
}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (METADATA, [("AU-07", True), ("AU-08", True), ("AU-10", True)]),
        ({**METADATA, "authorization_servers": []}, [("AU-07", True), ("AU-08", False), ("AU-10", True)]),
        ({**METADATA, "authorization_servers": [1]}, [("AU-07", True), ("AU-08", False), ("AU-10", True)]),
        ({**METADATA, "resource": "http://other.example/mcp"}, [("AU-07", False), ("AU-10", False)]),
        ([], [("AU-07", False), ("AU-10", False)]),
    ],
)
def test_metadata_must_be_about_this_server_and_name_an_issuer(
    content: Any, expected: list[tuple[str, bool]]
) -> None:
    found = trace(call(NONE, 401), call(NONE, 200, does=WELL_KNOWN, says=content))
    assert seen("authorization.metadata", found) == expected


def test_a_challenge_that_leads_to_the_metadata_is_enough() -> None:
    refused = call(NONE, 401, got=challenge(f'Bearer resource_metadata="{URL}"'))
    found = trace(refused, call(NONE, 404, does=WELL_KNOWN))
    assert seen("authorization.metadata", found) == [("AU-07", False), ("AU-10", True)]


@pytest.mark.parametrize(("url", "holds"), [(URL, True), ("/elsewhere", False), ("", False)])
def test_the_address_of_the_metadata_is_a_url(url: str, holds: bool) -> None:
    revision = HANDSHAKE[-2]
    refused = call(NONE, 401, got=challenge(f'Bearer resource_metadata="{url}"'))
    assert seen("authorization.challenge", trace(refused, revision=revision)) == [("AU-09", holds)]


@pytest.mark.parametrize("value", ["", "Basic", f'Bearer resource_metadata="{URL}"', 'Basic scope="read"'])
def test_a_server_that_has_scopes_names_them(value: str) -> None:
    document = {**METADATA, "scopes_supported": ["read"]}
    found = trace(call(NONE, 401, got=challenge(value)), call(NONE, 200, does=WELL_KNOWN, says=document))
    assert seen("authorization.challenge", found) == [("AU-14", False)]


def test_metadata_on_another_machine_is_not_said_to_be_missing() -> None:
    told = challenge('Bearer resource_metadata="https://elsewhere.example/metadata"')
    found = trace(call(NONE, 401, got=told), call(NONE, 404, does=WELL_KNOWN))
    assert seen("authorization.metadata", found) == [("AU-10", True)]


@pytest.mark.parametrize(("scopes", "holds"), [("read", True), ("read offline_access", False)])
def test_offline_access_is_not_asked_for(scopes: str, holds: bool) -> None:
    document = {**METADATA, "scopes_supported": scopes.split()}
    found = trace(
        call(NONE, 401, got=challenge(f'Bearer scope="{scopes}"')),
        call(NONE, 200, does=WELL_KNOWN, says=document),
        revision=PER_REQUEST[-1],
    )
    assert seen("authorization.offline-access", found) == [("AU-77", holds), ("AU-77", holds)]
