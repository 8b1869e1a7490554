"""The token endpoint: what each grant type requires and yields."""

from collections.abc import Callable
from typing import Any

import jwt
import pytest

from assay.authority.exchange import exchange
from assay.authority.http import Form
from assay.authority.memory import MemoryStore
from assay.authority.record import Client
from tests.authority.flow import (
    CONFIDENTIAL,
    ISSUER,
    PUBLIC,
    REDIRECT,
    RESOURCE,
    VERIFIER,
    ManualClock,
    OAuthFlow,
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


def make_flow(**settings: Any) -> OAuthFlow:
    return OAuthFlow(clients=(PUBLIC, CONFIDENTIAL, OTHER, BOUND), **settings)


@pytest.mark.parametrize(("changes", "error"), BAD_CODES, ids=repr)
async def test_a_code_is_exchanged_by_its_client_with_its_verifier_only(
    changes: dict[str, Any], error: str
) -> None:
    flow = make_flow()
    code = await flow.code()
    response = await flow.exchange(**{"code": code, **changes})
    assert error_of(response) == error
    assert response.headers["cache-control"] == "no-store"
    assert (await flow.exchange(code)).status_code == 200


async def test_a_code_expires() -> None:
    flow = make_flow()
    code = await flow.code()
    flow.clock.now += flow.authority.settings.lifetimes.code
    assert error_of(await flow.exchange(code)) == "400 invalid_grant"


async def test_reusing_a_code_revokes_its_tokens() -> None:
    flow = make_flow()
    code = await flow.code()
    first = (await flow.exchange(code)).json()
    assert error_of(await flow.exchange(code)) == "400 invalid_grant"
    assert await flow.introspect(first["access_token"]) == {"active": False}
    assert error_of(await flow.refresh(first["refresh_token"])) == "400 invalid_grant"


class Interleaved(MemoryStore):
    """Runs another request just before a code is marked as used."""

    between: Callable[[], None] | None = None

    def swap(self, kind: str, key: str, old: bytes, new: bytes) -> bool:
        between, self.between = self.between, None
        if between is not None:
            between()
        return super().swap(kind, key, old, new)


async def test_concurrent_uses_of_a_code_revoke_both() -> None:
    flow = make_flow(store=(store := Interleaved(now=ManualClock())))
    pairs = {"grant_type": "authorization_code", "code": await flow.code(), "code_verifier": VERIFIER}
    first: dict[str, Any] = {}
    store.between = lambda: first.update(exchange(flow.authority, PUBLIC, Form([*pairs.items()]), None))
    assert error_of(await flow.exchange(pairs["code"])) == "400 invalid_grant"
    assert await flow.introspect(first["access_token"]) == {"active": False}
    assert store.all("grant") == []


async def test_an_access_token_has_the_claims_of_the_standard_and_is_for_the_resource() -> None:
    flow = make_flow()
    token = (await flow.tokens())["access_token"]
    claims = flow.claims(token)
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"
    assert claims.keys() == {"iss", "sub", "aud", "client_id", "iat", "exp", "jti", "scope"}
    assert (claims["iss"], claims["aud"], claims["exp"] - claims["iat"]) == (ISSUER, RESOURCE, 300)


@pytest.mark.parametrize(
    ("resource", "audience"),
    [(None, "https://default.example"), ([RESOURCE, "https://b.example"], [RESOURCE, "https://b.example"])],
)
async def test_the_audience_is_what_was_asked_for_or_the_default(resource: Any, audience: Any) -> None:
    flow = make_flow(audience="https://default.example")
    token = (await flow.tokens(resource=resource))["access_token"]
    assert flow.claims(token, audience=audience)["aud"] == audience


async def test_a_token_is_for_nothing_that_the_consent_was_not_for() -> None:
    flow = make_flow()
    assert error_of(await flow.exchange(await flow.code(resource=None), resource=RESOURCE)) == (
        "400 invalid_target"
    )
    assert (await flow.exchange(await flow.code(resource=None), resource=ISSUER)).status_code == 200


async def test_a_token_may_be_for_one_of_several_resources() -> None:
    flow = make_flow()
    code = await flow.code(resource=[RESOURCE, "https://b.example"])
    token = (await flow.exchange(code, resource=RESOURCE)).json()["access_token"]
    assert flow.claims(token)["aud"] == RESOURCE


async def test_openid_brings_a_token_about_the_person_for_the_client() -> None:
    flow = make_flow()
    token = (await flow.tokens(scope="openid", nonce="n-1"))["id_token"]
    claims = flow.claims(token, audience="public")
    assert (claims["sub"], claims["nonce"]) == ("developer", "n-1")
    assert "id_token" not in await flow.tokens()


async def test_only_a_client_that_may_refresh_gets_a_refresh_token() -> None:
    once = Client(id="once", redirects=(REDIRECT,))
    for scope, refreshed in (("read", False), ("read offline_access", True)):
        flow = OAuthFlow(clients=(once,))
        code = await flow.code(client_id="once", scope=scope)
        assert ("refresh_token" in (await flow.exchange(code, client_id="once")).json()) is refreshed


BAD_REFRESHES: list[tuple[dict[str, Any], str]] = [
    ({"refresh_token": None}, "400 invalid_request"),
    ({"refresh_token": "unknown"}, "400 invalid_grant"),
    ({"client_id": "other"}, "400 invalid_grant"),
    ({"scope": "read write"}, "400 invalid_scope"),
    ({"resource": "https://other.example"}, "400 invalid_target"),
]


@pytest.mark.parametrize(("changes", "error"), BAD_REFRESHES, ids=repr)
async def test_a_refresh_cannot_widen_the_grant(changes: dict[str, Any], error: str) -> None:
    flow = make_flow()
    token = (await flow.tokens())["refresh_token"]
    response = await flow.token(
        **{"grant_type": "refresh_token", "refresh_token": token, "client_id": "public", **changes}
    )
    assert error_of(response) == error
    assert (await flow.refresh(token)).status_code == 200


async def test_a_refresh_may_ask_for_less_and_the_next_one_for_all_again() -> None:
    flow = make_flow()
    first = await flow.tokens(scope="read write")
    second = (await flow.refresh(first["refresh_token"], scope="read")).json()
    third = (await flow.refresh(second["refresh_token"])).json()
    assert (second["scope"], third["scope"]) == ("read", "read write")


async def test_a_family_ends_however_often_it_was_refreshed() -> None:
    flow = make_flow()
    token = (await flow.tokens())["refresh_token"]
    flow.clock.now += flow.authority.settings.lifetimes.refresh - 1
    token = (await flow.refresh(token)).json()["refresh_token"]
    flow.clock.now += 1
    assert error_of(await flow.refresh(token)) == "400 invalid_grant"


async def test_a_client_with_a_secret_acts_for_itself() -> None:
    flow = make_flow()
    form = {"grant_type": "client_credentials", "scope": "read", "resource": RESOURCE}
    response = await flow.token(**form, client_id="confidential", client_secret="s3cret")
    claims = flow.claims(response.json()["access_token"])
    assert (claims["sub"], claims["client_id"], claims["scope"]) == ("confidential", "confidential", "read")
    assert "refresh_token" not in response.json()


async def test_a_scope_is_never_granted_and_the_settings_say_how() -> None:
    flow = make_flow(refused_scopes={"admin": "access_denied"})
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    assert error_of(await flow.token(**form, scope="read admin")) == "400 access_denied"
    assert "scope" not in (await flow.token(**form)).json()


async def test_an_opaque_token_is_known_to_introspection_only() -> None:
    flow = make_flow(opaque=True)
    token = (await flow.tokens())["access_token"]
    assert "." not in token
    introspected = await flow.introspect(token)
    assert (introspected["active"], introspected["aud"], introspected["sub"]) == (True, RESOURCE, "developer")
    flow.clock.now += flow.authority.settings.lifetimes.access
    assert await flow.introspect(token) == {"active": False}
