"""Tokens that only their issuer can read."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.auth import Introspection
from assay.auth.denial import Unavailable
from assay.auth.introspection import Inquiry
from tests.auth.issuing import CLIENT, Issuer, ec_key, issuing, proof, thumbprint
from tests.auth.knocking import HTTP, WS, bearer, dpop, protected

OPAQUE = "2YotnFZFEjr1zCsicMWpAA"


@asynccontextmanager
async def asking(issuer: Issuer, **options: Any) -> Any:
    how = Introspection(
        url=f"{issuer.url}/introspect",
        client_id=CLIENT[0],
        client_secret=CLIENT[1],
        kept=options.pop("kept", 30),
    )
    async with protected(issuer, introspection=how, **{"jwks": None, **options}) as door:
        yield door


def active(issuer: Issuer, **changed: Any) -> dict[str, Any]:
    return {"active": True, **issuer.claims(**changed)}


@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_an_active_token_is_good_and_asked_about_once(transport: str) -> None:
    async with issuing() as issuer, asking(issuer) as door:
        issuer.opaque[OPAQUE] = active(issuer)
        for _ in range(3):
            assert (await door.knock(transport, bearer(OPAQUE))).status in (200, 101)
        assert issuer.asked == [{"token": OPAQUE, "token_type_hint": "access_token"}]


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
async def test_what_the_issuer_says_is_checked(
    claims: dict[str, Any], status: int, error: str, transport: str
) -> None:
    async with issuing() as issuer, asking(issuer) as door:
        issuer.opaque[OPAQUE] = active(issuer, **claims)
        heard = await door.knock(transport, bearer(OPAQUE))
        assert (heard.status, f'error="{error}"' in heard.headers["www-authenticate"]) == (status, True)
        assert door.greeted == []
        issuer.opaque["good"] = active(issuer, iss=...)
        assert (await door.knock(transport, bearer("good"))).status in (200, 101)


async def test_a_bound_token_comes_with_a_proof() -> None:
    async with issuing() as issuer, asking(issuer) as door:
        issuer.opaque[OPAQUE] = active(issuer, cnf={"jkt": thumbprint(ec_key("holder"))})
        assert (await door.knock(HTTP, dpop(OPAQUE, proof(OPAQUE)))).status == 200


async def test_what_was_learnt_is_not_believed_for_long() -> None:
    async with issuing() as issuer, asking(issuer, kept=0) as door:
        issuer.opaque[OPAQUE] = active(issuer)
        assert (await door.knock(HTTP, bearer(OPAQUE))).status == 200
        issuer.opaque[OPAQUE] = {"active": False}
        assert (await door.knock(HTTP, bearer(OPAQUE))).status == 401


async def test_signed_tokens_are_read_here_where_keys_are_given() -> None:
    async with issuing() as issuer, asking(issuer, jwks=issuer.jwks) as door:
        issuer.opaque[OPAQUE] = active(issuer)
        for token in (issuer.mint(), OPAQUE):
            assert (await door.knock(HTTP, bearer(token))).status == 200
        assert [asked["token"] for asked in issuer.asked] == [OPAQUE]


@pytest.mark.parametrize(
    ("status", "answer"), [(500, None), (401, None), (200, b"{}"), (200, b'{"active": "yes"}'), (307, None)]
)
async def test_an_issuer_that_does_not_answer_is_no_verdict_on_the_token(
    status: int, answer: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "assay")
    async with issuing() as issuer, asking(issuer) as door:
        issuer.opaque[OPAQUE] = active(issuer)
        issuer.status, issuer.answer = status, answer
        assert (await door.knock(HTTP, bearer(OPAQUE))).status == 503
        assert door.greeted == []
        issuer.status, issuer.answer = 200, None
        assert (await door.knock(HTTP, bearer(OPAQUE))).status == 200
    assert OPAQUE not in caplog.text
    assert CLIENT[1] not in caplog.text


async def test_requests_that_come_together_ask_once() -> None:
    async with issuing() as issuer, asking(issuer) as door:
        issuer.opaque[OPAQUE] = active(issuer)
        heard = await asyncio.gather(*(door.knock(HTTP, bearer(OPAQUE)) for _ in range(10)))
        assert {each.status for each in heard} == {200}
        assert len(issuer.asked) == 1


async def test_no_more_tokens_are_asked_about_than_a_bound() -> None:
    async with issuing() as issuer:
        issuer.opaque |= {name: active(issuer) for name in "abc"}
        how = Introspection(url=f"{issuer.url}/introspect", client_id=CLIENT[0], client_secret=CLIENT[1])
        inquiry = Inquiry(how, most=2)
        found = await asyncio.gather(*map(inquiry.ask, "abc"), return_exceptions=True)
        assert [isinstance(each, Unavailable) for each in found] == [False, False, True]
        assert (await inquiry.ask("c"))["active"]
