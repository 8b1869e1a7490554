"""Tokens from a real authorization server, of all kinds that it issues."""

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
from assay.lab.harness.sabotage.certificate_authority import TestCA
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
from assay.lab.harness.subject.token_source import ClientCredentials, TokenSource
from assay.model.limits import Limits
from assay.transport.http1.listening import listen
from assay.transport.http1.server import serve

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


def claim(tokens: Any, kind: str, name: str) -> Any:
    return (claims_of(tokens[kind]) or {}).get(name)


async def test_a_development_authority_mints_every_kind() -> None:
    async with authority(dev_mint=True) as issuer:
        audience = f"{issuer}/mcp"
        source = TokenSource(issuer, audience, scopes=SCOPES)
        tokens, _ = await source.fetch()
        stepped = await source.grant(["read"])
        again = await source.mint(SKEWED)
    honest = {USUAL, OTHER, WEAK, CAPITALS}
    assert set(tokens) == {*honest, EXPIRED, FOREIGN, OTHER_ISSUER, STRANGER, *AHEAD}
    assert claim(tokens, NOT_YET, "nbf") - claim(tokens, USUAL, "iat") >= 360
    assert claim({SKEWED: again}, SKEWED, "nbf") >= claim(tokens, SKEWED, "nbf")
    assert claim(tokens, USUAL, "sub") != claim(tokens, OTHER, "sub")
    assert claim(tokens, USUAL, "aud") == claim(tokens, WEAK, "aud") == audience
    assert (claim(tokens, USUAL, "scope"), claim(tokens, WEAK, "scope")) == ("read write", "")
    assert claim(tokens, FOREIGN, "aud") != audience and claim(tokens, OTHER_ISSUER, "iss") != issuer
    assert claim(tokens, CAPITALS, "aud") == audience.replace("http", "HTTP")
    assert stepped is not None and (claims_of(stepped) or {})["scope"] == "read"


async def test_with_registration_there_are_two_users() -> None:
    async with authority() as issuer:
        audience = f"{issuer}/mcp"
        source = TokenSource(issuer, audience, scopes=SCOPES)
        tokens, seconds = await source.fetch()
        stepped = await source.grant(["write"])
        assert await source.mint(SKEWED) is None
    assert set(tokens) == {USUAL, OTHER, WEAK, FOREIGN, CAPITALS}
    assert claim(tokens, USUAL, "sub") != claim(tokens, OTHER, "sub")
    assert claim(tokens, WEAK, "scope") == "read" and claim(tokens, FOREIGN, "aud") != audience
    assert seconds == 300
    assert stepped is not None and (claims_of(stepped) or {})["scope"] == "write"


async def test_a_known_client_is_one_user() -> None:
    async with authority(clients=(ROBOT,), registration=False, scopes=SCOPES) as issuer:
        tokens, _ = await TokenSource(
            issuer, f"{issuer}/mcp", ClientCredentials("robot", SECRET), SCOPES
        ).fetch()
    assert claim(tokens, USUAL, "client_id") == "robot"
    assert OTHER not in tokens


async def test_opaque_tokens_do_not_count_as_tokens_for_another_audience() -> None:
    async with authority(opaque=True) as issuer:
        tokens, _ = await TokenSource(issuer, f"{issuer}/mcp", scopes=SCOPES).fetch()
    assert set(tokens) == {USUAL, OTHER, WEAK}


async def test_an_issuer_that_grants_all_scopes_has_no_weak_token() -> None:
    async with authority(scopes=("read",)) as issuer:
        tokens, _ = await TokenSource(issuer, f"{issuer}/mcp", scopes=("read",)).fetch()
    assert WEAK not in tokens


@pytest.mark.parametrize(
    ("settings", "client", "problem"),
    [
        ({"registration": False}, None, "has no registration endpoint: use --client-id"),
        ({"clients": (ROBOT,)}, ClientCredentials("robot", "not-the-secret"), "invalid_client"),
    ],
)
async def test_errors_do_not_contain_secrets(
    settings: dict[str, Any], client: ClientCredentials | None, problem: str
) -> None:
    async with authority(**settings) as issuer:
        with pytest.raises(NoToken) as error:
            await TokenSource(issuer, f"{issuer}/mcp", client).fetch()
    assert problem in str(error.value) and "not-the-secret" not in str(error.value)


async def test_a_missing_authorization_server_is_reported() -> None:
    bound = listen("127.0.0.1", 0)
    place = f"http://127.0.0.1:{bound.getsockname()[1]}"
    bound.close()
    with pytest.raises(NoToken, match=r"request to 127\.0\.0\.1:.* failed"):
        await TokenSource(place, f"{place}/mcp").fetch()


async def test_client_certificate_is_presented_when_reading_the_resource_metadata() -> None:
    async with authority(dev_mint=True) as issuer:
        test_ca = TestCA(
            "everything", "--auth", f"issuer={issuer},audience=https://localhost/mcp,scopes=read"
        )
        subject = test_ca.served()
        await subject.start()
        try:
            tokens, _ = await TokenSource(issuer, subject.name, identity=test_ca.identity).fetch()
            with pytest.raises(NoToken, match="TLS"):
                await TokenSource(issuer, subject.name).fetch()
        finally:
            await subject.stop()
            test_ca.close()
    assert claim(tokens, USUAL, "scope") == "read"
