"""Tokens from a real authorization server, of as many kinds as it gives out."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay.authority.app import AuthorityApp
from assay.authority.authority import Authority
from assay.authority.record import SECRET_METHODS, Client, digest
from assay.authority.settings import Settings
from assay.lab.harness.links.broken_off import NoToken
from assay.lab.harness.sabotage.certificate_server import TestCA
from assay.lab.harness.subject.bearer import (
    AHEAD,
    CAPITALS,
    EXPIRED,
    FOREIGN,
    NOT_YET,
    OTHER,
    OTHER_ISSUER,
    SKEWED,
    STRANGER,
    USUAL,
    WEAK,
    claims_of,
)
from assay.lab.harness.subject.token_source import Customer, TokenSource
from assay.model.limits import Limits
from assay.transport.http1.server import listen, serve

SCOPES = ("read", "write")
SECRET = "the-secret-of-the-robot"
ROBOT = Client(
    id="robot",
    secret=digest(SECRET),
    methods=SECRET_METHODS,
    grants=("client_credentials",),
    scopes=SCOPES,
)


@contextlib.asynccontextmanager
async def authority(**settings: Any) -> AsyncIterator[str]:
    bound, stop = listen("127.0.0.1", 0), asyncio.Event()
    issuer = f"http://127.0.0.1:{bound.getsockname()[1]}"
    app = AuthorityApp(Authority(Settings(issuer=issuer, **settings)))
    serving = asyncio.create_task(serve(app, bound, stop.wait, limits=Limits()))
    try:
        yield issuer
    finally:
        stop.set()
        await serving


def said(tokens: Any, kind: str, name: str) -> Any:
    return (claims_of(tokens[kind]) or {}).get(name)


async def test_an_authority_for_development_mints_every_kind() -> None:
    async with authority(dev_mint=True) as issuer:
        audience = f"{issuer}/mcp"
        source = TokenSource(issuer, audience, scopes=SCOPES)
        tokens, _ = await source.fetch()
        stepped = await source.grant(["read"])
        again = await source.mint(SKEWED)
    honest = {USUAL, OTHER, WEAK, CAPITALS}
    assert set(tokens) == {*honest, EXPIRED, FOREIGN, OTHER_ISSUER, STRANGER, *AHEAD}
    assert said(tokens, NOT_YET, "nbf") - said(tokens, USUAL, "iat") >= 360
    assert said({SKEWED: again}, SKEWED, "nbf") >= said(tokens, SKEWED, "nbf")
    assert said(tokens, USUAL, "sub") != said(tokens, OTHER, "sub")
    assert said(tokens, USUAL, "aud") == said(tokens, WEAK, "aud") == audience
    assert (said(tokens, USUAL, "scope"), said(tokens, WEAK, "scope")) == ("read write", "")
    assert said(tokens, FOREIGN, "aud") != audience and said(tokens, OTHER_ISSUER, "iss") != issuer
    assert said(tokens, CAPITALS, "aud") == audience.replace("http", "HTTP")
    assert stepped is not None and (claims_of(stepped) or {})["scope"] == "read"


async def test_where_clients_can_register_there_are_two_users() -> None:
    async with authority() as issuer:
        audience = f"{issuer}/mcp"
        source = TokenSource(issuer, audience, scopes=SCOPES)
        tokens, seconds = await source.fetch()
        stepped = await source.grant(["write"])
        assert await source.mint(SKEWED) is None
    assert set(tokens) == {USUAL, OTHER, WEAK, FOREIGN, CAPITALS}
    assert said(tokens, USUAL, "sub") != said(tokens, OTHER, "sub")
    assert said(tokens, WEAK, "scope") == "read" and said(tokens, FOREIGN, "aud") != audience
    assert seconds == 300
    assert stepped is not None and (claims_of(stepped) or {})["scope"] == "write"


async def test_a_known_client_is_one_user() -> None:
    async with authority(clients=(ROBOT,), registration=False, scopes=SCOPES) as issuer:
        tokens, _ = await TokenSource(issuer, f"{issuer}/mcp", Customer("robot", SECRET), SCOPES).fetch()
    assert said(tokens, USUAL, "client_id") == "robot"
    assert OTHER not in tokens


async def test_opaque_tokens_are_not_taken_for_those_of_another_audience() -> None:
    async with authority(opaque=True) as issuer:
        tokens, _ = await TokenSource(issuer, f"{issuer}/mcp", scopes=SCOPES).fetch()
    assert set(tokens) == {USUAL, OTHER, WEAK}


async def test_an_issuer_that_grants_more_than_it_is_asked_for_has_no_weak_token() -> None:
    async with authority(scopes=("read",)) as issuer:
        tokens, _ = await TokenSource(issuer, f"{issuer}/mcp", scopes=("read",)).fetch()
    assert WEAK not in tokens


@pytest.mark.parametrize(
    ("settings", "customer", "problem"),
    [
        ({"registration": False}, None, "registers nobody"),
        ({"clients": (ROBOT,)}, Customer("robot", "not-the-secret"), "invalid_client"),
    ],
)
async def test_refusals_are_told_without_a_secret(
    settings: dict[str, Any], customer: Customer | None, problem: str
) -> None:
    async with authority(**settings) as issuer:
        with pytest.raises(NoToken) as refused:
            await TokenSource(issuer, f"{issuer}/mcp", customer).fetch()
    assert problem in str(refused.value) and "not-the-secret" not in str(refused.value)


async def test_where_no_authorization_server_is_that_is_told() -> None:
    bound = listen("127.0.0.1", 0)
    place = f"http://127.0.0.1:{bound.getsockname()[1]}"
    bound.close()
    with pytest.raises(NoToken, match="cannot ask 127"):
        await TokenSource(place, f"{place}/mcp").fetch()


async def test_a_server_that_asks_for_a_certificate_is_shown_one_when_it_is_asked_for_scopes() -> None:
    async with authority(dev_mint=True) as issuer:
        office = TestCA("everything", "--auth", f"issuer={issuer},audience=https://localhost/mcp,scopes=read")
        subject = office.served()
        await subject.start()
        try:
            tokens, _ = await TokenSource(issuer, subject.name, identity=office.identity).fetch()
            with pytest.raises(NoToken, match="TLS"):
                await TokenSource(issuer, subject.name).fetch()
        finally:
            await subject.stop()
            office.close()
    assert said(tokens, USUAL, "scope") == "read"
