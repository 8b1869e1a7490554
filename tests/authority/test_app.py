"""The application: paths, methods, limits, CORS, and the endpoints for local programs only."""

import asyncio
import logging
from typing import Any

import httpx2
import pytest

from assay.authority.app import AuthorityApp
from assay.authority.memory import MemoryStore
from assay.authority.settings import Bounds, Settings
from tests.authority.flow import ISSUER, REDIRECT, RESOURCE, OAuthFlow, error_of
from tests.driving.hosts import HOSTS

TENANT = f"{ISSUER}/tenant/1"


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (ISSUER, ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]),
        (f"{ISSUER}/", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]),
        (
            TENANT,
            [
                "/.well-known/oauth-authorization-server/tenant/1",
                "/.well-known/openid-configuration/tenant/1",
                "/tenant/1/.well-known/openid-configuration",
            ],
        ),
    ],
)
async def test_the_documents_are_where_clients_look_and_name_the_issuer_exactly(
    issuer: str, places: list[str]
) -> None:
    flow = OAuthFlow(issuer=issuer)
    for place in places:
        response = await flow.http.get(place)
        assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
        assert response.json()["issuer"] == issuer
        assert response.json()["assay_development_only"] is True
        assert response.json()["token_endpoint"] == f"{issuer.rstrip('/')}/token"


async def test_an_issuer_with_a_path_has_nothing_at_the_root() -> None:
    flow = OAuthFlow(issuer=TENANT)
    for place in ("/.well-known/oauth-authorization-server", "/token", "/jwks"):
        assert (await flow.http.get(place)).status_code == 404


async def test_endpoints_can_be_below_a_path_where_the_documents_are_not() -> None:
    flow = OAuthFlow(endpoints="/oauth")
    assert (await flow.http.get("/jwks")).status_code == 404
    assert (await flow.http.get("/oauth/jwks")).json()["keys"]
    document = (await flow.http.get("/.well-known/oauth-authorization-server")).json()
    assert (document["issuer"], document["token_endpoint"]) == (ISSUER, f"{ISSUER}/oauth/token")
    assert (await flow.tokens())["access_token"]


async def test_it_says_which_addresses_are_its_own() -> None:
    places = AuthorityApp(OAuthFlow(endpoints="/oauth", faults=("metadata-404-oidc",)).authority).places
    assert {"/oauth/token", "/oauth/authorize", "/.well-known/oauth-authorization-server"} <= places
    assert not {"/mcp", "/token", "/.well-known/openid-configuration"} & places


async def test_members_of_the_metadata_can_be_set_and_removed() -> None:
    flow = OAuthFlow(metadata={"scopes_supported": None, "token_endpoint": "http://127.0.0.1:9/token"})
    document = (await flow.http.get("/.well-known/oauth-authorization-server")).json()
    assert "scopes_supported" not in document
    assert document["token_endpoint"] == "http://127.0.0.1:9/token"


async def test_a_wrong_method_gets_an_allow_header() -> None:
    response = await OAuthFlow().http.get("/token")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_the_first_page_says_what_this_is() -> None:
    page = await OAuthFlow().http.get("/")
    assert "development authorization server" in page.text


async def test_a_body_beyond_the_bound_is_refused() -> None:
    flow = OAuthFlow(bounds=Bounds(body_bytes=100))
    response = await flow.token(grant_type="x" * 200)
    assert error_of(response) == "413 invalid_request"


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    flow = OAuthFlow(bounds=Bounds(body_seconds=0.01))
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "POST", "path": "/token", "headers": []}
    await AuthorityApp(flow.authority)(scope, receive, send)
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("content", [b"\xff=1", b"&".join(b"a=%d" % n for n in range(100))])
async def test_what_is_no_list_of_parameters_is_refused(content: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    response = await OAuthFlow().http.post("/token", content=content, headers=headers)
    assert error_of(response) == "400 invalid_request"


async def test_parameters_of_the_token_endpoint_do_not_come_in_the_query_or_as_json() -> None:
    flow = OAuthFlow()
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    assert error_of(await flow.http.post("/token", params=form)) == "400 invalid_request"
    assert error_of(await flow.http.post("/token", json=form)) == "400 invalid_request"


@pytest.mark.parametrize("place", ["/token", "/register", "/jwks", "/.well-known/oauth-authorization-server"])
async def test_scripts_of_any_page_may_read_what_is_public(place: str) -> None:
    flow = OAuthFlow()
    preflight = await flow.http.options(place, headers={"origin": "https://app.example"})
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, "*")
    answered = await flow.http.post(place) if place in ("/token", "/register") else await flow.http.get(place)
    assert answered.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("place", ["/authorize", "/consent", "/introspect", "/dev/mint"])
async def test_scripts_of_other_pages_read_nothing_else(place: str) -> None:
    response = await OAuthFlow(dev_mint=True).http.options(place, headers={"origin": "https://app.example"})
    assert "access-control-allow-origin" not in response.headers


async def test_programs_on_this_machine_mint_and_rotate_where_that_is_switched_on() -> None:
    flow = OAuthFlow(dev_mint=True)
    arguments = {"subject": "ann", "audience": RESOURCE, "scopes": ["read"]}
    token = (await flow.http.post("/dev/mint", json=arguments)).json()["access_token"]
    assert flow.claims(token)["sub"] == "ann"
    before = flow.authority.keys.current.kid
    assert (await flow.http.post("/dev/rotate", json={})).json()["kid"] != before


@pytest.mark.parametrize(
    "body",
    [
        {"fault": "nonsense"},
        {"unknown": 1},
        {"lifetime": 1e300},
        {"scopes": "read"},
        {"fault": "expired-token", "claims": {"exp": "soon"}},
        {"fault": "expired-token", "claims": {"iat": None}},
        [],
    ],
)
async def test_what_cannot_be_minted_is_refused(body: Any) -> None:
    assert error_of(await OAuthFlow(dev_mint=True).http.post("/dev/mint", json=body)) == "400 invalid_request"


@pytest.mark.parametrize(
    ("settings", "peer", "headers"),
    [
        ({}, "127.0.0.1", {}),
        ({"dev_mint": True}, "192.168.1.5", {}),
        ({"dev_mint": True}, "not an address", {}),
        ({"dev_mint": True}, "127.0.0.1", {"origin": "http://127.0.0.1:9000"}),
        ({"dev_mint": True}, "127.0.0.1", {"host": "rebound.example:9000"}),
        ({"dev_mint": True}, "127.0.0.1", {"host": "[::1"}),
    ],
)
async def test_others_cannot_mint(settings: dict[str, Any], peer: str, headers: dict[str, str]) -> None:
    app = AuthorityApp(OAuthFlow(**settings).authority)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app, client=(peer, 1)), base_url=ISSUER
    ) as http:
        for place in ("/dev/mint", "/dev/rotate"):
            assert error_of(await http.post(place, json={}, headers=headers)) == "404 not_found"


async def test_the_log_has_method_address_and_status_and_nothing_that_is_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "assay.authority")
    flow = OAuthFlow()
    await flow.introspect((await flow.tokens())["access_token"])
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("assay")]
    assert logged == ["GET /authorize 303", "POST /token 200", "POST /introspect 200"]


async def test_the_log_repeats_no_address_that_a_stranger_made_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "assay.authority")
    flow = OAuthFlow()
    await flow.http.get(flow.url("/a-token%0AGET /forged 200"))
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("assay")]
    assert logged == ["GET (elsewhere) 404"]


async def test_a_refusal_repeats_nothing_that_may_be_a_secret_in_the_wrong_place() -> None:
    flow = OAuthFlow(scopes=("read",))
    scope = await flow.authorize(scope="read a-secret-token")
    redirect = await flow.http.post(flow.url("/register"), json={"redirect_uris": ["a-secret-token"]})
    assert "invalid_scope" in scope.headers["location"] and "a-secret" not in scope.headers["location"]
    assert redirect.json()["error"] == "invalid_redirect_uri" and "a-secret" not in redirect.text


@pytest.mark.parametrize("host", HOSTS)
async def test_it_runs_under_any_asgi_server(host: str) -> None:
    app = AuthorityApp(OAuthFlow().authority)
    async with HOSTS[host](app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
        assert (await http.get("/jwks")).json()["keys"]
        assert (await http.head("/jwks")).status_code == 200
        assert (await http.post("/token", data={"grant_type": "x"})).status_code == 401


async def test_it_takes_no_websocket_and_follows_the_life_of_its_server() -> None:
    sent: list[str] = []
    events = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        return next(events)

    app = AuthorityApp(OAuthFlow().authority)
    await app({"type": "websocket"}, receive, send)
    await app({"type": "lifespan"}, receive, send)
    assert sent == ["websocket.close", "lifespan.startup.complete", "lifespan.shutdown.complete"]


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "ftp://a.example"},
        {"issuer": "https://"},
        {"issuer": "http://a.example"},
        {"issuer": "https://a.example?x=1"},
        {"issuer": "https://a.example#x"},
        {"issuer": "https://user@a.example"},
        {"algorithm": "HS256"},
        {"faults": ("nonsense",)},
        {"users": ()},
        {"scopes": ("a b",)},
        {"methods": ()},
        {"methods": ("none", "magic")},
        {"grants": ()},
        {"grants": ("password",)},
        {"endpoints": "oauth"},
        {"endpoints": "/oauth/"},
    ],
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"issuer|algorithm|fault|user|scope|method|grant|endpoints"):
        Settings(**{"issuer": ISSUER, **changes})


async def test_a_full_store_answers_that_it_is_full() -> None:
    flow = OAuthFlow(store=MemoryStore(bound=1))
    described = {"redirect_uris": [REDIRECT]}
    assert (await flow.http.post("/register", json=described)).status_code == 201
    assert error_of(await flow.http.post("/register", json=described)) == "503 temporarily_unavailable"
