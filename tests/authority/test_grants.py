"""The token endpoint: what each grant asks for, and what comes of it."""

from collections.abc import Callable
from typing import Any

import jwt
import pytest

from assay.authority.exchange import exchange
from assay.authority.http import Form
from assay.authority.memory import MemoryStore
from assay.authority.record import Client
from tests.authority.walk import (
    CONFIDENTIAL,
    ISSUER,
    PUBLIC,
    REDIRECT,
    RESOURCE,
    VERIFIER,
    ManualClock,
    Walk,
    error_of,
)

OTHER = Client(id="other", redirects=(REDIRECT,), grants=PUBLIC.grants)
BOUND = Client(id="bound", redirects=(REDIRECT,), grants=PUBLIC.grants, dpop=True)
BAD_CODES: list[tuple[dict[str, Any], str]] = [
    ({"code": "unknown"}, "400 invalid_grant"),
    ({"code": None}, "400 invalid_request"),
    ({"code_verifier": None}, "400 invalid_request"),
    ({"code_verifier": "w" * 43}, "400 invalid_grant"),
    ({"code_verifier": "v" * 42}, "400 invalid_grant"),
    ({"code_verifier": "v" * 129}, "400 invalid_grant"),
    ({"redirect_uri": "http://127.0.0.1:9/callback"}, "400 invalid_grant"),
    ({"resource": "https://other.example"}, "400 invalid_target"),
    ({"client_id": "other"}, "400 invalid_grant"),
    ({"client_id": None}, "401 invalid_client"),
    ({"client_id": "nobody"}, "401 invalid_client"),
    ({"client_id": "bound"}, "400 invalid_dpop_proof"),
    ({"grant_type": None}, "400 invalid_request"),
    ({"grant_type": "password"}, "400 unsupported_grant_type"),
    ({"grant_type": "client_credentials"}, "400 unauthorized_client"),
    ({"grant_type": ["authorization_code", "authorization_code"]}, "400 invalid_request"),
]


def walk(**settings: Any) -> Walk:
    return Walk(clients=(PUBLIC, CONFIDENTIAL, OTHER, BOUND), **settings)


@pytest.mark.parametrize(("changes", "error"), BAD_CODES, ids=repr)
async def test_a_code_is_exchanged_by_its_client_with_its_verifier_only(
    changes: dict[str, Any], error: str
) -> None:
    given = walk()
    code = await given.code()
    response = await given.exchange(**{"code": code, **changes})
    assert error_of(response) == error
    assert response.headers["cache-control"] == "no-store"
    assert (await given.exchange(code)).status_code == 200


async def test_a_code_expires() -> None:
    given = walk()
    code = await given.code()
    given.clock.now += given.authority.settings.lifetimes.code
    assert error_of(await given.exchange(code)) == "400 invalid_grant"


async def test_a_code_that_is_used_again_takes_back_what_came_of_it() -> None:
    given = walk()
    code = await given.code()
    first = (await given.exchange(code)).json()
    assert error_of(await given.exchange(code)) == "400 invalid_grant"
    assert await given.introspect(first["access_token"]) == {"active": False}
    assert error_of(await given.refresh(first["refresh_token"])) == "400 invalid_grant"


class Interleaved(MemoryStore):
    """Lets somebody else in just before a code is marked as used."""

    between: Callable[[], None] | None = None

    def swap(self, kind: str, key: str, old: bytes, new: bytes) -> bool:
        between, self.between = self.between, None
        if between is not None:
            between()
        return super().swap(kind, key, old, new)


async def test_of_two_who_use_a_code_at_once_in_two_processes_neither_keeps_anything() -> None:
    given = walk(store=(store := Interleaved(now=ManualClock())))
    pairs = {"grant_type": "authorization_code", "code": await given.code(), "code_verifier": VERIFIER}
    first: dict[str, Any] = {}
    store.between = lambda: first.update(exchange(given.authority, PUBLIC, Form([*pairs.items()]), None))
    assert error_of(await given.exchange(pairs["code"])) == "400 invalid_grant"
    assert await given.introspect(first["access_token"]) == {"active": False}
    assert store.all("grant") == []


async def test_an_access_token_has_the_claims_of_the_standard_and_is_for_the_resource() -> None:
    given = walk()
    token = (await given.tokens())["access_token"]
    claims = given.claims(token)
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"
    assert claims.keys() == {"iss", "sub", "aud", "client_id", "iat", "exp", "jti", "scope"}
    assert (claims["iss"], claims["aud"], claims["exp"] - claims["iat"]) == (ISSUER, RESOURCE, 300)


@pytest.mark.parametrize(
    ("resource", "audience"),
    [(None, "https://default.example"), ([RESOURCE, "https://b.example"], [RESOURCE, "https://b.example"])],
)
async def test_the_audience_is_what_was_asked_for_or_the_default(resource: Any, audience: Any) -> None:
    given = walk(audience="https://default.example")
    token = (await given.tokens(resource=resource))["access_token"]
    assert given.claims(token, audience=audience)["aud"] == audience


async def test_a_token_is_for_nothing_that_the_consent_was_not_for() -> None:
    given = walk()
    assert error_of(await given.exchange(await given.code(resource=None), resource=RESOURCE)) == (
        "400 invalid_target"
    )
    assert (await given.exchange(await given.code(resource=None), resource=ISSUER)).status_code == 200


async def test_a_token_may_be_for_one_of_several_resources() -> None:
    given = walk()
    code = await given.code(resource=[RESOURCE, "https://b.example"])
    token = (await given.exchange(code, resource=RESOURCE)).json()["access_token"]
    assert given.claims(token)["aud"] == RESOURCE


async def test_openid_brings_a_token_about_the_person_for_the_client() -> None:
    given = walk()
    token = (await given.tokens(scope="openid", nonce="n-1"))["id_token"]
    claims = given.claims(token, audience="public")
    assert (claims["sub"], claims["nonce"]) == ("developer", "n-1")
    assert "id_token" not in await given.tokens()


async def test_only_a_client_that_may_refresh_gets_a_refresh_token() -> None:
    once = Client(id="once", redirects=(REDIRECT,))
    for scope, refreshed in (("read", False), ("read offline_access", True)):
        given = Walk(clients=(once,))
        code = await given.code(client_id="once", scope=scope)
        assert ("refresh_token" in (await given.exchange(code, client_id="once")).json()) is refreshed


BAD_REFRESHES: list[tuple[dict[str, Any], str]] = [
    ({"refresh_token": None}, "400 invalid_request"),
    ({"refresh_token": "unknown"}, "400 invalid_grant"),
    ({"client_id": "other"}, "400 invalid_grant"),
    ({"scope": "read write"}, "400 invalid_scope"),
    ({"resource": "https://other.example"}, "400 invalid_target"),
]


@pytest.mark.parametrize(("changes", "error"), BAD_REFRESHES, ids=repr)
async def test_a_refresh_gives_nothing_more_and_to_nobody_else(changes: dict[str, Any], error: str) -> None:
    given = walk()
    token = (await given.tokens())["refresh_token"]
    response = await given.token(
        **{"grant_type": "refresh_token", "refresh_token": token, "client_id": "public", **changes}
    )
    assert error_of(response) == error
    assert (await given.refresh(token)).status_code == 200


async def test_a_refresh_may_ask_for_less_and_the_next_one_for_all_again() -> None:
    given = walk()
    first = await given.tokens(scope="read write")
    second = (await given.refresh(first["refresh_token"], scope="read")).json()
    third = (await given.refresh(second["refresh_token"])).json()
    assert (second["scope"], third["scope"]) == ("read", "read write")


async def test_a_family_ends_however_often_it_was_refreshed() -> None:
    given = walk()
    token = (await given.tokens())["refresh_token"]
    given.clock.now += given.authority.settings.lifetimes.refresh - 1
    token = (await given.refresh(token)).json()["refresh_token"]
    given.clock.now += 1
    assert error_of(await given.refresh(token)) == "400 invalid_grant"


async def test_a_client_with_a_secret_acts_for_itself() -> None:
    given = walk()
    form = {"grant_type": "client_credentials", "scope": "read", "resource": RESOURCE}
    response = await given.token(**form, client_id="confidential", client_secret="s3cret")
    claims = given.claims(response.json()["access_token"])
    assert (claims["sub"], claims["client_id"], claims["scope"]) == ("confidential", "confidential", "read")
    assert "refresh_token" not in response.json()


async def test_a_scope_is_never_granted_and_the_settings_say_how() -> None:
    given = walk(refused_scopes={"admin": "access_denied"})
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    assert error_of(await given.token(**form, scope="read admin")) == "400 access_denied"
    assert "scope" not in (await given.token(**form)).json()


async def test_an_opaque_token_is_known_to_introspection_only() -> None:
    given = walk(opaque=True)
    token = (await given.tokens())["access_token"]
    assert "." not in token
    told = await given.introspect(token)
    assert (told["active"], told["aud"], told["sub"]) == (True, RESOURCE, "developer")
    given.clock.now += given.authority.settings.lifetimes.access
    assert await given.introspect(token) == {"active": False}
