"""The authorization endpoint: grants, errors, and where each response goes."""

from typing import Any

import pytest

from assay.authority.client_metadata import same_redirect
from assay.authority.record import Client
from tests.authority.flow import (
    CONFIDENTIAL,
    ISSUER,
    PUBLIC,
    REDIRECT,
    RESOURCE,
    OAuthFlow,
    answered,
    error_of,
)

MACHINE = Client(id="machine", redirects=(REDIRECT,), grants=("client_credentials",))
NARROW = Client(id="narrow", redirects=(REDIRECT,), scopes=("read",))

SHOWN_TO_THE_PERSON: list[dict[str, Any]] = [
    {"client_id": None},
    {"client_id": "nobody"},
    {"client_id": ["public", "public"]},
    {"redirect_uri": "https://attacker.example/callback"},
    {"redirect_uri": "http://127.0.0.1:1234/callback/"},
    {"redirect_uri": "http://127.0.0.1:1234/callback?more=1"},
    {"redirect_uri": "http://127.0.0.1.attacker.example:1234/callback"},
    {"redirect_uri": "http://user@127.0.0.1:1234/callback"},
    {"redirect_uri": "http://localhost:1234/callback"},
    {"redirect_uri": "javascript:alert(1)"},
    {"redirect_uri": [REDIRECT, REDIRECT]},
]
REDIRECTED_ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": ["code", "code"]}, "invalid_request"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"scope": "delete"}, "invalid_scope"),
    ({"scope": "read  write"}, "invalid_scope"),
    ({"scope": 'read "x"'}, "invalid_scope"),
    ({"resource": "not-a-uri"}, "invalid_target"),
    ({"resource": f"{RESOURCE}#part"}, "invalid_target"),
    ({"resource": 'https://a.example/"><script>'}, "invalid_target"),
    ({"resource": "https://a.example/" + "a" * 2000}, "invalid_target"),
    ({"resource": [f"{RESOURCE}/{number}" for number in range(33)]}, "invalid_target"),
    ({"client_id": "machine"}, "unauthorized_client"),
    ({"client_id": "narrow", "scope": "delete"}, "invalid_scope"),
    ({"request": "x"}, "request_not_supported"),
    ({"request_uri": "https://a.example"}, "request_uri_not_supported"),
]


def make_flow(**settings: Any) -> OAuthFlow:
    return OAuthFlow(clients=(PUBLIC, CONFIDENTIAL, MACHINE, NARROW), scopes=("read", "write"), **settings)


@pytest.mark.parametrize("changes", SHOWN_TO_THE_PERSON, ids=repr)
async def test_where_the_address_cannot_be_trusted_nothing_is_sent_there(changes: dict[str, Any]) -> None:
    response = await make_flow().authorize(**changes)
    assert response.status_code == 400
    assert "location" not in response.headers
    assert response.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(("changes", "error"), REDIRECTED_ERRORS, ids=repr)
async def test_errors_are_redirected_with_state_and_issuer(changes: dict[str, Any], error: str) -> None:
    back = answered(await make_flow().authorize(**changes))
    assert (back["error"], back["state"], back["iss"]) == (error, "state-1", ISSUER)
    assert "code" not in back


async def test_a_state_that_came_twice_is_not_repeated() -> None:
    back = answered(await make_flow().authorize(state=["a", "b"]))
    assert back["error"] == "invalid_request"
    assert "state" not in back


async def test_only_the_resources_that_were_named_can_be_asked_for() -> None:
    limited = make_flow(resources=(RESOURCE,))
    assert "code" in answered(await limited.authorize())
    assert answered(await limited.authorize(resource="https://other.example"))["error"] == "invalid_target"


async def test_without_a_scope_all_that_the_client_may_have_is_granted() -> None:
    for client, scope in (("public", "read write"), ("narrow", "read")):
        flow = make_flow()
        code = await flow.code(client_id=client, scope=None)
        assert (await flow.exchange(code, client_id=client)).json()["scope"] == scope


async def test_a_person_may_consent_to_more_than_the_client_has_registered_for() -> None:
    flow = make_flow()
    code = await flow.code(client_id="narrow", scope="read write")
    assert (await flow.exchange(code, client_id="narrow")).json()["scope"] == "read write"


async def test_a_query_of_the_redirect_address_is_kept() -> None:
    client = Client(id="asking", redirects=("https://app.example/back?tab=1",))
    response = await OAuthFlow(clients=(client,)).authorize(client_id="asking", redirect_uri=None)
    assert response.headers["location"].startswith("https://app.example/back?tab=1&code=")


async def test_the_user_that_the_client_hints_at_consents_if_there_is_one() -> None:
    for hint, subject in (("ben", "ben"), ("mallory", "ann"), (None, "ann")):
        flow = make_flow(users=("ann", "ben"))
        token = (await flow.tokens(login_hint=hint))["access_token"]
        assert flow.claims(token)["sub"] == subject


async def test_a_request_with_too_many_parameters_is_refused() -> None:
    flow = make_flow()
    response = await flow.http.get("/authorize", params={f"p{number}": "x" for number in range(100)})
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("requested", "registered", "same"),
    [
        ("http://127.0.0.1:5/cb", "http://127.0.0.1/cb", True),
        ("http://[::1]:5/cb", "http://[::1]:6/cb", True),
        ("http://127.0.0.1:5/other", "http://127.0.0.1/cb", False),
        ("http://127.0.0.1:5/cb?a=1", "http://127.0.0.1/cb", False),
        ("https://127.0.0.1:5/cb", "http://127.0.0.1/cb", False),
        ("http://127.0.0.2:5/cb", "http://127.0.0.1/cb", False),
        ("http://localhost:5/cb", "http://localhost/cb", False),
        ("https://app.example:5/cb", "https://app.example/cb", False),
        ("https://APP.example/cb", "https://app.example/cb", False),
        ("com.app:/cb", "com.app:/cb", True),
        ("http://127.0.0.1:99999/cb", "http://127.0.0.1/cb", False),
        ("http://127.0.0.1:8/c\tb", "http://127.0.0.1/cb", False),
        ("http://[::1]:8/cb", "http://[::1]/cb", True),
        ("http://evil.example\\[::1]/cb", "http://[::1]/cb", False),
        ("http://evil.example[::1]/cb", "http://[::1]/cb", False),
        ("http://[::1]evil.example/cb", "http://[::1]/cb", False),
        ("http://[::1/cb", "http://127.0.0.1/cb", False),
    ],
)
def test_redirect_addresses_are_equal_but_for_the_port_of_a_program(
    requested: str, registered: str, same: bool
) -> None:
    assert same_redirect(requested, registered) is same


async def test_the_code_is_for_the_client_that_asked() -> None:
    flow = make_flow()
    code = await flow.code()
    stolen = await flow.exchange(code, client_id="narrow")
    assert error_of(stolen) == "400 invalid_grant"
    assert (await flow.exchange(code)).status_code == 200
