"""Opaque tokens, which are introspected."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.auth import Introspection
from assay.auth.error import Unavailable
from assay.auth.introspection import IntrospectionClient
from tests.auth.endpoint import HTTP, WS, bearer, dpop, protected
from tests.auth.issuer import CLIENT, Issuer, ec_key, proof, serve_issuer, thumbprint

OPAQUE = "2YotnFZFEjr1zCsicMWpAA"


@asynccontextmanager
async def introspecting(issuer: Issuer, **options: Any) -> Any:
    how = Introspection(
        url=f"{issuer.url}/introspect",
        client_id=CLIENT[0],
        client_secret=CLIENT[1],
        kept=options.pop("kept", 30),
        refused=options.pop("refused", 5),
    )
    async with protected(issuer, introspection=how, **{"jwks": None, **options}) as endpoint:
        yield endpoint


def active(issuer: Issuer, **changed: Any) -> dict[str, Any]:
    return {"active": True, **issuer.claims(**changed)}


@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_an_active_token_is_accepted_and_introspected_once(transport: str) -> None:
    async with serve_issuer() as issuer, introspecting(issuer) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer)
        for _ in range(3):
            assert (await endpoint.request(transport, bearer(OPAQUE))).status in (200, 101)
        assert issuer.introspected == [{"token": OPAQUE, "token_type_hint": "access_token"}]


@pytest.mark.parametrize(
    ("claims", "status", "error"),
    [
        ({"active": False}, 401, "invalid_token"),
        ({"exp": 1}, 401, "invalid_token"),
        ({"exp": ...}, 401, "invalid_token"),
        ({"nbf": 99999999999}, 401, "invalid_token"),
        ({"aud": "other"}, 401, "invalid_token"),
        ({"aud": ...}, 401, "invalid_token"),
        ({"iss": "https://elsewhere.example"}, 401, "invalid_token"),
        ({"sub": ...}, 401, "invalid_token"),
        ({"scope": "other"}, 403, "insufficient_scope"),
        ({"cnf": {"jkt": "x"}}, 401, "invalid_token"),
    ],
    ids=str,
)
@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_introspected_claims_are_checked(
    claims: dict[str, Any], status: int, error: str, transport: str
) -> None:
    async with serve_issuer() as issuer, introspecting(issuer) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer, **claims)
        reply = await endpoint.request(transport, bearer(OPAQUE))
        assert (reply.status, f'error="{error}"' in reply.headers["www-authenticate"]) == (status, True)
        assert endpoint.greeted == []
        issuer.opaque["good"] = active(issuer, iss=...)
        assert (await endpoint.request(transport, bearer("good"))).status in (200, 101)


async def test_a_bound_token_requires_a_proof() -> None:
    async with serve_issuer() as issuer, introspecting(issuer) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer, cnf={"jkt": thumbprint(ec_key("holder"))})
        assert (await endpoint.request(HTTP, dpop(OPAQUE, proof(OPAQUE)))).status == 200


async def test_an_answer_is_cached_only_for_its_lifetime() -> None:
    async with serve_issuer() as issuer, introspecting(issuer, kept=0) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer)
        assert (await endpoint.request(HTTP, bearer(OPAQUE))).status == 200
        issuer.opaque[OPAQUE] = {"active": False}
        assert (await endpoint.request(HTTP, bearer(OPAQUE))).status == 401


async def test_signed_tokens_are_verified_locally_if_keys_are_set() -> None:
    async with serve_issuer() as issuer, introspecting(issuer, jwks=issuer.jwks) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer)
        for token in (issuer.mint(), OPAQUE):
            assert (await endpoint.request(HTTP, bearer(token))).status == 200
        assert [introspected["token"] for introspected in issuer.introspected] == [OPAQUE]


@pytest.mark.parametrize(
    ("status", "answer"), [(500, None), (401, None), (200, b"{}"), (200, b'{"active": "yes"}'), (307, None)]
)
async def test_a_failing_issuer_does_not_invalidate_the_token(
    status: int, answer: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "assay")
    async with serve_issuer() as issuer, introspecting(issuer) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer)
        issuer.status, issuer.answer = status, answer
        assert (await endpoint.request(HTTP, bearer(OPAQUE))).status == 503
        assert endpoint.greeted == []
        issuer.status, issuer.answer = 200, None
        assert (await endpoint.request(HTTP, bearer(OPAQUE))).status == 200
    assert OPAQUE not in caplog.text
    assert CLIENT[1] not in caplog.text


async def test_concurrent_requests_introspect_once() -> None:
    async with serve_issuer() as issuer, introspecting(issuer) as endpoint:
        issuer.opaque[OPAQUE] = active(issuer)
        reply = await asyncio.gather(*(endpoint.request(HTTP, bearer(OPAQUE)) for _ in range(10)))
        assert {each.status for each in reply} == {200}
        assert len(issuer.introspected) == 1


@pytest.mark.parametrize("claims", [{"active": False}, {"aud": "other"}, {"exp": 1}], ids=str)
async def test_a_refused_token_is_introspected_once(claims: dict[str, Any]) -> None:
    async with serve_issuer() as issuer, introspecting(issuer) as endpoint:
        issuer.opaque |= {OPAQUE: active(issuer, **claims), "good": active(issuer)}
        replies = [await endpoint.request(HTTP, bearer(OPAQUE)) for _ in range(20)]
        assert {(reply.status, reply.headers["www-authenticate"]) for reply in replies} == {
            (401, replies[0].headers["www-authenticate"])
        }
        assert len(issuer.introspected) == 1
        assert (await endpoint.request(HTTP, bearer("good"))).status == 200


async def test_a_refusal_is_cached_only_for_its_lifetime() -> None:
    async with serve_issuer() as issuer, introspecting(issuer, refused=0) as endpoint:
        assert (await endpoint.request(HTTP, bearer(OPAQUE))).status == 401
        issuer.opaque[OPAQUE] = active(issuer)
        assert (await endpoint.request(HTTP, bearer(OPAQUE))).status == 200


async def test_pending_introspections_are_bounded() -> None:
    async with serve_issuer() as issuer:
        issuer.opaque |= {name: active(issuer) for name in "abc"}
        how = Introspection(url=f"{issuer.url}/introspect", client_id=CLIENT[0], client_secret=CLIENT[1])
        client = IntrospectionClient(how, most=2)
        outcomes = await asyncio.gather(*map(client.introspect, "abc"), return_exceptions=True)
        assert [isinstance(each, Unavailable) for each in outcomes] == [False, False, True]
        assert (await client.introspect("c"))["active"]
