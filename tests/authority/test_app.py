"""The application: addresses, methods, bounds, other origins, and what only this machine may do."""

import asyncio
import logging
from typing import Any

import httpx2
import pytest

from assay.authority.app import AuthorityApp
from assay.authority.memory import MemoryStore
from assay.authority.settings import Bounds, Settings
from tests.authority.walk import ISSUER, REDIRECT, RESOURCE, Walk, error_of
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
    walk = Walk(issuer=issuer)
    for place in places:
        response = await walk.http.get(place)
        assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
        assert response.json()["issuer"] == issuer
        assert response.json()["assay_development_only"] is True
        assert response.json()["token_endpoint"] == f"{issuer.rstrip('/')}/token"


async def test_an_issuer_with_a_path_has_nothing_at_the_root() -> None:
    walk = Walk(issuer=TENANT)
    for place in ("/.well-known/oauth-authorization-server", "/token", "/jwks"):
        assert (await walk.http.get(place)).status_code == 404


async def test_endpoints_can_be_below_a_path_where_the_documents_are_not() -> None:
    walk = Walk(endpoints="/oauth")
    assert (await walk.http.get("/jwks")).status_code == 404
    assert (await walk.http.get("/oauth/jwks")).json()["keys"]
    document = (await walk.http.get("/.well-known/oauth-authorization-server")).json()
    assert (document["issuer"], document["token_endpoint"]) == (ISSUER, f"{ISSUER}/oauth/token")
    assert (await walk.tokens())["access_token"]


async def test_it_says_which_addresses_are_its_own() -> None:
    places = AuthorityApp(Walk(endpoints="/oauth", faults=("metadata-404-oidc",)).authority).places
    assert {"/oauth/token", "/oauth/authorize", "/.well-known/oauth-authorization-server"} <= places
    assert not {"/mcp", "/token", "/.well-known/openid-configuration"} & places


async def test_members_of_the_metadata_can_be_set_and_removed() -> None:
    walk = Walk(metadata={"scopes_supported": None, "token_endpoint": "http://127.0.0.1:9/token"})
    document = (await walk.http.get("/.well-known/oauth-authorization-server")).json()
    assert "scopes_supported" not in document
    assert document["token_endpoint"] == "http://127.0.0.1:9/token"


async def test_a_wrong_method_is_told_the_right_one() -> None:
    response = await Walk().http.get("/token")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_the_first_page_says_what_this_is() -> None:
    page = await Walk().http.get("/")
    assert "development authorization server" in page.text


async def test_a_body_beyond_the_bound_is_refused() -> None:
    walk = Walk(bounds=Bounds(body_bytes=100))
    response = await walk.token(grant_type="x" * 200)
    assert error_of(response) == "413 invalid_request"


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    walk = Walk(bounds=Bounds(body_seconds=0.01))
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "POST", "path": "/token", "headers": []}
    await AuthorityApp(walk.authority)(scope, receive, send)
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("content", [b"\xff=1", b"&".join(b"a=%d" % n for n in range(100))])
async def test_what_is_no_list_of_parameters_is_refused(content: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    response = await Walk().http.post("/token", content=content, headers=headers)
    assert error_of(response) == "400 invalid_request"


async def test_parameters_of_the_token_endpoint_do_not_come_in_the_query_or_as_json() -> None:
    walk = Walk()
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    assert error_of(await walk.http.post("/token", params=form)) == "400 invalid_request"
    assert error_of(await walk.http.post("/token", json=form)) == "400 invalid_request"


@pytest.mark.parametrize("place", ["/token", "/register", "/jwks", "/.well-known/oauth-authorization-server"])
async def test_scripts_of_any_page_may_read_what_is_public(place: str) -> None:
    walk = Walk()
    asked = await walk.http.options(place, headers={"origin": "https://app.example"})
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, "*")
    answered = await walk.http.post(place) if place in ("/token", "/register") else await walk.http.get(place)
    assert answered.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("place", ["/authorize", "/consent", "/introspect", "/dev/mint"])
async def test_scripts_of_other_pages_read_nothing_else(place: str) -> None:
    response = await Walk(dev_mint=True).http.options(place, headers={"origin": "https://app.example"})
    assert "access-control-allow-origin" not in response.headers


async def test_programs_on_this_machine_mint_and_rotate_where_that_is_switched_on() -> None:
    walk = Walk(dev_mint=True)
    arguments = {"subject": "ann", "audience": RESOURCE, "scopes": ["read"]}
    token = (await walk.http.post("/dev/mint", json=arguments)).json()["access_token"]
    assert walk.claims(token)["sub"] == "ann"
    before = walk.authority.keys.current.kid
    assert (await walk.http.post("/dev/rotate", json={})).json()["kid"] != before


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
    assert error_of(await Walk(dev_mint=True).http.post("/dev/mint", json=body)) == "400 invalid_request"


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
async def test_nobody_else_mints(settings: dict[str, Any], peer: str, headers: dict[str, str]) -> None:
    app = AuthorityApp(Walk(**settings).authority)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app, client=(peer, 1)), base_url=ISSUER
    ) as http:
        for place in ("/dev/mint", "/dev/rotate"):
            assert error_of(await http.post(place, json={}, headers=headers)) == "404 not_found"


async def test_the_log_has_method_address_and_status_and_nothing_that_is_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "assay.authority")
    walk = Walk()
    await walk.introspect((await walk.tokens())["access_token"])
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("assay")]
    assert logged == ["GET /authorize 303", "POST /token 200", "POST /introspect 200"]


async def test_the_log_repeats_no_address_that_a_stranger_made_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "assay.authority")
    walk = Walk()
    await walk.http.get(walk.url("/a-token%0AGET /forged 200"))
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("assay")]
    assert logged == ["GET (elsewhere) 404"]


async def test_a_refusal_repeats_nothing_that_may_be_a_secret_in_the_wrong_place() -> None:
    walk = Walk(scopes=("read",))
    scope = await walk.authorize(scope="read a-secret-token")
    redirect = await walk.http.post(walk.url("/register"), json={"redirect_uris": ["a-secret-token"]})
    assert "invalid_scope" in scope.headers["location"] and "a-secret" not in scope.headers["location"]
    assert redirect.json()["error"] == "invalid_redirect_uri" and "a-secret" not in redirect.text


@pytest.mark.parametrize("host", HOSTS)
async def test_it_runs_under_any_asgi_server(host: str) -> None:
    app = AuthorityApp(Walk().authority)
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

    app = AuthorityApp(Walk().authority)
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
    walk = Walk(store=MemoryStore(bound=1))
    described = {"redirect_uris": [REDIRECT]}
    assert (await walk.http.post("/register", json=described)).status_code == 201
    assert error_of(await walk.http.post("/register", json=described)) == "503 temporarily_unavailable"
