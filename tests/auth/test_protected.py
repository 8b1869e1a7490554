"""The middleware around an application: metadata, refusals, and the scope that handlers see."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Context, Server
from assay.auth import Auth, DPoP
from assay.revisions.registry import HANDSHAKE
from tests.auth.endpoint import HTTP, WS, Endpoint, bearer, dpop, make_server, protected
from tests.auth.issuer import RESOURCE, Issuer, ec_key, proof, public_jwk, serve_issuer, thumbprint
from tests.driving.asgi import AsgiPeer
from tests.driving.hosts import HOSTS
from tests.driving.messages import call
from tests.driving.websocket import AsgiSocket, Closed

WELL_KNOWN = "/.well-known/oauth-protected-resource"
GREET = call("greet", 7)


def local_app(**options: Any) -> tuple[Issuer, Any, list[Any]]:
    """An issuer whose keys are local, and an application that accepts its tokens."""
    issuer, greeted = Issuer(), list[Any]()
    issuer.url = "https://as.example"
    options = {"issuer": issuer.url, "audience": RESOURCE, "jwks": {"keys": issuer.keys}, **options}
    return issuer, make_server(greeted, auth=Auth(**options)).asgi(), greeted


def authorization(token: str) -> dict[str, str | None]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize("path", [WELL_KNOWN, f"{WELL_KNOWN}/mcp", f"{WELL_KNOWN}/mcp/"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_metadata_is_read_without_a_token_from_anywhere(path: str, method: str) -> None:
    _, app, _ = local_app(scopes=["use"])
    async with AsgiPeer(app, path=path) as client:
        answer = await client.send(method, headers={"origin": "https://elsewhere.example"})
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "max-age" in answer.headers["cache-control"]
        assert answer.json["resource"] == RESOURCE
        assert answer.json["authorization_servers"] == ["https://as.example"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("OPTIONS", WELL_KNOWN, 204),
        ("POST", WELL_KNOWN, 405),
        ("GET", f"{WELL_KNOWN}/other", 404),
        ("GET", "/.well-known/oauth-authorization-server", 404),
        ("GET", "/.well-known/openid-configuration", 404),
        ("GET", "/favicon.ico", 401),
    ],
)
async def test_other_requests_beside_the_endpoint(method: str, path: str, status: int) -> None:
    _, app, _ = local_app()
    async with AsgiPeer(app, path=path) as client:
        assert (await client.send(method)).status == status


async def test_the_metadata_is_where_the_challenge_says() -> None:
    async with serve_issuer() as issuer, protected(issuer, audience="http://localhost/mcp") as endpoint:
        challenge = (await endpoint.request(HTTP, [])).headers["www-authenticate"]
        address = challenge.partition('resource_metadata="')[2].partition('"')[0]
        path = address.removeprefix("http://localhost")
        reply = await endpoint.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert json.loads(reply.body)["authorization_servers"] == [issuer.url]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)],
    ids=["host", "origin"],
)
@pytest.mark.parametrize("token", [None, "abc", "good"])
async def test_host_and_origin_come_before_tokens(
    headers: dict[str, str | None], status: int, token: str | None
) -> None:
    issuer, app, greeted = local_app()
    text = issuer.mint() if token == "good" else token
    credentials = {} if text is None else authorization(text)
    async with AsgiPeer(app) as client:
        answer = await client.post(GREET, headers={**headers, **credentials})
        assert (answer.status, "www-authenticate" in answer.headers) == (status, False)
    assert greeted == []


async def test_a_browser_may_ask_before_it_shows_a_token_and_read_the_challenge() -> None:
    _, app, _ = local_app()
    asks: dict[str, str | None] = {"origin": "http://localhost:5173", "access-control-request-method": "POST"}
    async with AsgiPeer(app) as client:
        leave = await client.send("OPTIONS", headers=asks)
        assert leave.status == 204
        assert {"authorization", "dpop"} <= set(leave.headers["access-control-allow-headers"].split(", "))
        refused = await client.post(GREET, headers={"origin": "http://localhost:5173"})
        assert refused.status == 401
        assert refused.headers["access-control-allow-origin"] == "http://localhost:5173"
        assert "www-authenticate" in refused.headers["access-control-expose-headers"]
        assert (await client.send("OPTIONS")).status == 401


async def test_a_browser_may_ask_before_it_reads_the_metadata_from_anywhere() -> None:
    _, app, _ = local_app()
    asks: dict[str, str | None] = {
        "origin": "https://elsewhere.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version",
    }
    async with AsgiPeer(app, path=f"{WELL_KNOWN}/mcp") as client:
        leave = await client.send("OPTIONS", headers=asks)
        assert (leave.status, leave.headers["access-control-allow-origin"]) == (204, "*")
        assert leave.headers["access-control-allow-headers"] == "mcp-protocol-version"


async def test_handlers_see_the_principal_but_not_the_token() -> None:
    scopes: list[Any] = []
    issuer = Issuer()
    issuer.url = "https://as.example"
    auth = Auth(issuer=issuer.url, audience=RESOURCE, jwks={"keys": issuer.keys})
    server = Server("protected", auth=auth)

    @server.tool
    def look(ctx: Context) -> None:
        scopes.append(ctx.scope)

    token = issuer.mint(scope="a b", email="ann@example.org")
    async with AsgiPeer(server.asgi()) as client:
        await client.post(call("look"), headers={**authorization(token), "dpop": "x"})
    (scope,) = scopes
    assert scope.principal == "https://as.example#sub=ann"
    assert scope.scopes == {"a", "b"}
    assert scope.state["claims"]["email"] == "ann@example.org"
    assert token not in repr(scope)
    assert {"authorization", "dpop"}.isdisjoint(scope.headers)


@pytest.mark.parametrize(
    ("claims", "principal"),
    [
        ({"sub": "ann", "client_id": "app"}, "#sub=ann"),
        ({"sub": ..., "client_id": "app"}, "#client_id=app"),
        ({"sub": "client_id=app"}, "#sub=client_id=app"),
    ],
)
async def test_principals_are_stable_and_never_mistaken_for_each_other(
    claims: dict[str, Any], principal: str
) -> None:
    issuer, app, greeted = local_app()
    async with AsgiPeer(app) as client:
        for number in range(2):
            await client.post(GREET, headers=authorization(issuer.mint(**claims, jti=str(number))))
    assert greeted == [f"https://as.example{principal}"] * 2


@pytest.mark.parametrize(
    "claims",
    [
        {"scope": "use"},
        {"scope": "other use"},
        {"scope": ["use"]},
        {"scope": ..., "scp": ["use"]},
        {"scope": ..., "scp": "use more"},
        {"scope": "admin"},
    ],
    ids=str,
)
async def test_scopes_are_read_as_issuers_write_them_and_may_include_others(claims: dict[str, Any]) -> None:
    issuer, app, _ = local_app(scopes=["use"], hierarchy={"admin": ["manage"], "manage": ["use", "admin"]})
    async with AsgiPeer(app) as client:
        assert (await client.post(GREET, headers=authorization(issuer.mint(**claims)))).status == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["other", RESOURCE]},
        {"aud": "HTTP://LOCALHOST:3000/mcp"},
        {"aud": "second"},
        {"nbf": 0},
        {"iat": ...},
        {"exp": 99999999999.5},
    ],
    ids=str,
)
async def test_good_tokens_come_in_many_shapes(claims: dict[str, Any]) -> None:
    issuer, app, _ = local_app(audience=[RESOURCE, "second"])
    async with AsgiPeer(app) as client:
        assert (await client.post(GREET, headers=authorization(issuer.mint(**claims)))).status == 200


@pytest.mark.parametrize(
    "header", [{"kid": ...}, {"typ": ...}, {"typ": "JWT"}, {"typ": "application/at+jwt"}], ids=str
)
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER  "])
async def test_headers_of_good_tokens_come_in_many_shapes(header: dict[str, Any], scheme: str) -> None:
    issuer, app, _ = local_app()
    async with AsgiPeer(app) as client:
        headers = {"authorization": f"{scheme} {issuer.mint(header=header)}"}
        assert (await client.post(GREET, headers=headers)).status == 200


async def test_leeway_is_small() -> None:
    now = 1_800_000_000.0
    issuer, app, _ = local_app(clock=lambda: now, leeway=10)
    ends = {now - 9: 200, now - 10: 401}
    async with AsgiPeer(app) as client:
        for end, status in ends.items():
            answer = await client.post(GREET, headers=authorization(issuer.mint(iat=now - 60, exp=end)))
            assert answer.status == status


async def test_a_known_token_ends_when_it_expires() -> None:
    moments = [1_800_000_000.0]
    issuer, app, greeted = local_app(clock=lambda: moments[0], leeway=0)
    token = issuer.mint(iat=moments[0], exp=moments[0] + 60)
    async with AsgiPeer(app) as client:
        for later, status in ((0, 200), (59, 200), (1, 401)):
            moments[0] += later
            assert (await client.post(GREET, headers=authorization(token))).status == status
    assert len(greeted) == 2


async def test_a_known_token_is_forgotten_with_the_key_that_signed_it() -> None:
    async with serve_issuer() as issuer, protected(issuer, keys_kept=0) as endpoint:
        token = issuer.mint()
        assert (await endpoint.request(HTTP, bearer(token))).status == 200
        issuer.keys = [public_jwk(ec_key("second"), kid="ec")]
        assert (await endpoint.request(HTTP, bearer(token))).status == 401
        assert (await endpoint.request(HTTP, bearer(issuer.mint(key=ec_key("second"))))).status == 200


async def test_a_cached_token_needs_no_request_to_the_issuer() -> None:
    async with serve_issuer() as issuer, protected(issuer) as endpoint:
        for _ in range(5):
            assert (await endpoint.request(HTTP, bearer(issuer.mint()))).status == 200
        assert issuer.requests == 1


@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_without_keys_the_answer_is_a_503_with_retry_after(
    transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve_issuer() as issuer, protected(issuer, keys_pause=0) as endpoint:
        issuer.status, token = 500, issuer.mint()
        reply = await endpoint.request(transport, bearer(token))
        assert (reply.status, reply.headers["retry-after"]) == (503, "10")
        assert "www-authenticate" not in reply.headers
        assert endpoint.greeted == []
        issuer.status = 200
        assert (await endpoint.request(transport, bearer(token))).status in (200, 101)
    assert "status 500" in caplog.text
    assert token not in caplog.text


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_behind_a_proxy_proofs_name_the_public_url(scheme: str) -> None:
    known = f"{scheme}://mcp.example/some/path"
    async with serve_issuer() as issuer, protected(issuer, audience=known) as endpoint:
        token = issuer.mint(aud=known, cnf={"jkt": thumbprint(ec_key("holder"))})
        assert (await endpoint.request(HTTP, dpop(token, proof(token, htu=f"{known}?q=1#f")))).status == 200
        text = proof(token, htm="GET", htu=f"{known.replace('http', 'ws')}/ws")
        assert (await endpoint.request(WS, dpop(token, text))).status == 101


@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_a_proof_carries_the_nonce_of_the_challenge(transport: str) -> None:
    method, address = ("POST", RESOURCE) if transport == HTTP else ("GET", f"{RESOURCE}/ws")
    async with serve_issuer() as issuer, protected(issuer, dpop=DPoP(nonce=True)) as endpoint:
        token = issuer.mint(cnf={"jkt": thumbprint(ec_key("holder"))})
        for wrong in ({}, {"nonce": "made up"}, {"nonce": 7}):
            reply = await endpoint.request(
                transport, dpop(token, proof(token, htm=method, htu=address, **wrong))
            )
            assert reply.status == 401
            assert reply.headers["www-authenticate"].startswith('DPoP error="use_dpop_nonce"')
        nonce = reply.headers["dpop-nonce"]
        again = proof(token, htm=method, htu=address, nonce=nonce)
        assert (await endpoint.request(transport, dpop(token, again))).status in (200, 101)


async def test_bound_tokens_can_be_required() -> None:
    async with serve_issuer() as issuer, protected(issuer, dpop=DPoP(required=True)) as endpoint:
        for headers in ([], bearer(issuer.mint())):
            reply = await endpoint.request(HTTP, headers)
            assert reply.status == 401
            assert reply.headers["www-authenticate"].startswith("DPoP ")
        token = issuer.mint(cnf={"jkt": thumbprint(ec_key("holder"))})
        assert (await endpoint.request(HTTP, dpop(token, proof(token)))).status == 200


@pytest.mark.parametrize("host", HOSTS)
async def test_other_servers_carry_refusals_too(host: str) -> None:
    async with serve_issuer() as issuer:
        auth = Auth(issuer=issuer.url, audience=RESOURCE, jwks=issuer.jwks)
        greeted: list[Any] = []
        async with HOSTS[host](make_server(greeted, auth=auth).asgi()) as port:
            endpoint = Endpoint(port, greeted)
            for transport in (HTTP, WS):
                reply = await endpoint.request(transport, bearer("abc"))
                assert reply.status == 401
                assert 'error="invalid_token"' in reply.headers["www-authenticate"]
                assert (await endpoint.request(transport, bearer(issuer.mint()))).status in (200, 101)
            assert len(greeted) == 1


async def test_without_the_response_extension_a_socket_is_closed() -> None:
    _, app, _ = local_app()
    with pytest.raises(Closed) as closed:
        async with AsgiSocket(app, extensions={}):
            pass
    assert closed.value.code == 1008


async def test_sessions_and_answers_work_as_before() -> None:
    issuer, app, _ = local_app()
    token = authorization(issuer.mint())["authorization"]
    assert token is not None

    class Holder(AsgiPeer):
        def _headers(self, method: str, changed: dict[str, str | None]) -> dict[str, str]:
            return {**super()._headers(method, changed), "authorization": token}

    async with await Holder(app).shake_hands(HANDSHAKE[-1]) as client:
        assert (await client.post(GREET)).json["result"]["content"][0]["text"].startswith("hello")
        assert (await client.send("DELETE")).status == 204


async def test_nothing_of_tokens_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serve_issuer() as issuer, protected(issuer) as endpoint:
        good, expired = issuer.mint(), issuer.mint(exp=1)
        bound = issuer.mint(cnf={"jkt": thumbprint(ec_key("holder"))})
        text = proof(bound)
        for transport in (HTTP, WS):
            await endpoint.request(transport, bearer(good))
            await endpoint.request(transport, bearer(expired))
            await endpoint.request(transport, [], f"?access_token={good}")
            await endpoint.request(transport, dpop(bound, text))
    own = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("assay"))
    for secret in (good, expired, bound, text):
        assert secret not in own
        assert secret.rpartition(".")[2] not in caplog.text


async def test_a_challenge_names_all_scopes_of_a_call() -> None:
    issuer = Issuer()
    issuer.url = "https://as.example"
    auth = Auth(
        issuer=issuer.url,
        audience=RESOURCE,
        jwks={"keys": issuer.keys},
        scopes=["use"],
        hierarchy={"admin": ["use", "write"]},
    )
    server, written = Server("protected", auth=auth), list[Any]()

    @server.tool(scopes=["write"])
    def write(ctx: Context) -> None:
        written.append(ctx.scope.principal)

    async with AsgiPeer(server.asgi()) as client:
        refused = await client.post(call("write"), headers=authorization(issuer.mint(scope="use")))
        assert refused.status == 403
        challenge = refused.headers["www-authenticate"]
        assert challenge.startswith('Bearer error="insufficient_scope"')
        assert 'scope="use write"' in challenge
        assert (
            'resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/mcp"' in challenge
        )
        assert written == []
        assert (
            await client.post(call("write"), headers=authorization(issuer.mint(scope="admin")))
        ).status == 200
    assert len(written) == 1


async def test_receive_and_send_are_passed_on_unchanged() -> None:
    """The fast path of our own HTTP server depends on it."""
    issuer, app, _ = local_app()
    came: list[Any] = []

    class Behind:
        policy = app.policy

        async def __call__(self, *arguments: Any) -> None:
            came.append(arguments)

    app._app = Behind()
    receive, send = object(), object()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(b"host", b"localhost"), (b"authorization", b"Bearer " + issuer.mint().encode())],
    }
    await app(scope, receive, send)
    ((inner, *rest),) = came
    assert rest[0] is receive
    assert rest[1] is send
    assert inner["headers"] == [(b"host", b"localhost")]
    assert len(scope["headers"]) == 2, "the host's own scope is not changed"


PIECES = st.sampled_from(
    [b"Bearer", b"DPoP", b" ", b".", b"=", b",", b'"', b"\x00", b"\xff", b"eyJhbGciOiJFUzI1NiJ9", b"e30"]
)
HEADER = st.lists(st.one_of(PIECES, st.binary(max_size=20)), max_size=8).map(b"".join)
HOSTILE = st.lists(st.tuples(st.sampled_from([b"authorization", b"dpop"]), HEADER), max_size=3)


@settings(max_examples=60, deadline=None)
@given(HOSTILE, st.one_of(st.just(b""), st.binary(max_size=20), st.just(b"access_token")))
def test_no_head_breaks_the_guard_or_passes_it(headers: list[tuple[bytes, bytes]], query: bytes) -> None:
    _, app, greeted = local_app()
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps(GREET).encode(), "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    usual = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"accept", b"*/*")]
    head = {"type": "http", "method": "POST", "path": "/mcp", "query_string": query}
    asyncio.run(app({**head, "headers": [*usual, *headers]}, receive, send))
    assert sent[0]["status"] in (400, 401)
    challenge = dict(sent[0]["headers"])[b"www-authenticate"]
    assert b"\r" not in challenge
    assert b"\n" not in challenge
    assert greeted == []
