"""The manifests over HTTP: access, caching, and an unchanged endpoint."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from assay import Scope
from assay.auth import Auth
from assay.profile import Profile
from tests.auth.issuer import RESOURCE, Issuer
from tests.driving.answer import Answer
from tests.driving.asgi import AsgiPeer
from tests.profile.market import EFFECTS, market

KINDS = ("tools", "resources", "prompts")
SCOPES = {"tools/list": ["see"], "tools/call": ["use"]}


async def ask(app: Any, kind: str = "tools", method: str = "GET", **options: Any) -> Answer:
    scope = options.pop("scope", {})
    async with AsgiPeer(app, path=f"/.well-known/mcp-{kind}", **scope) as peer:
        answer = await peer.send(method, **options)
    return answer


@pytest.mark.parametrize("kind", KINDS)
async def test_each_is_json_for_anybody_with_a_strong_tag(kind: str) -> None:
    profile = Profile()
    answer = await ask(market(profile).asgi(), kind)
    assert answer.body == (await profile.manifests())[kind]
    assert answer.status == 200
    assert answer.headers == {
        "content-type": "application/json",
        "etag": f'"{sha256(answer.body).hexdigest()}"',
        "access-control-allow-origin": "*",
        "cache-control": "no-cache",
        "content-length": str(len(answer.body)),
    }


async def test_who_has_it_already_is_told_so() -> None:
    app = market().asgi()
    tag = (await ask(app)).headers["etag"]
    for condition in (tag, f'W/{tag}, "x"', f'"x", {tag}', "*"):
        again = await ask(app, headers={"if-none-match": condition})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert (await ask(app, headers={"if-none-match": '"x"'})).status == 200


async def test_the_tag_changes_with_the_list() -> None:
    server = market()
    app = server.asgi()
    before = (await ask(app)).headers["etag"]
    server.tools.remove("echo")
    assert (await ask(app, headers={"if-none-match": before})).status == 200


async def test_head_tells_all_but_the_body() -> None:
    app = market().asgi()
    got, head = await ask(app), await ask(app, method="HEAD")
    assert (head.status, head.headers, head.body) == (200, got.headers, b"")


async def test_a_browser_gets_leave_to_ask_with_a_token() -> None:
    answer = await ask(market().asgi(), method="OPTIONS")
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert "authorization" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_a_manifest_can_only_be_read(method: str) -> None:
    answer = await ask(market().asgi(), method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 421), ({"host": None}, 421), ({"origin": "https://evil.example"}, 403)],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
async def test_names_and_origins_are_judged_as_for_the_endpoint(
    headers: dict[str, str | None], status: int, method: str
) -> None:
    assert (await ask(market().asgi(), method=method, headers=headers)).status == status


@pytest.mark.parametrize(
    "path", ["/.well-known/mcp-", "/.well-known/mcp-tools/x", "/x/.well-known/mcp-tools"]
)
async def test_nothing_else_is_there(path: str) -> None:
    async with AsgiPeer(market().asgi(), path=path) as peer:
        assert (await peer.send("GET")).status == 404


async def test_a_mounted_application_has_them_below_its_mount() -> None:
    async with AsgiPeer(market().asgi(), path="/app/.well-known/mcp-tools", root_path="/app") as peer:
        assert (await peer.send("GET")).status == 200


async def test_the_endpoint_goes_on_as_before() -> None:
    server = market()
    app = server.asgi(path="/here")
    assert app.policy.path == "/here"
    async with AsgiPeer(app, path="/here") as peer:
        answer = await peer.call("echo", message="x")
    assert answer.json["result"]["_meta"][EFFECTS]["tool"] == "echo"


async def test_it_starts_and_stops_what_it_stands_before() -> None:
    server, steps = market(), []

    @server.background
    async def beside() -> None:
        steps.append("begun")

    async with AsgiPeer(server.asgi()) as peer:
        peer.app.start()
        await peer.call("echo", message="x")
        await peer.app.close()
    assert steps == ["begun"]


@pytest.mark.parametrize(
    ("granted", "count"),
    [(None, 6), ({"see"}, 5), ({"see", "special"}, 6)],
)
async def test_a_caller_sees_what_it_may_use(granted: set[str] | None, count: int) -> None:
    server = market(scopes=SCOPES)
    server.tool(name="special", scopes=["special"])(lambda: None)
    server.tool(name="open")(lambda: None)
    caller = Scope(principal="ann", scopes=None if granted is None else frozenset(granted))
    answer = await ask(server.asgi(), scope={"assay": caller})
    assert len(json.loads(answer.body)) == count
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("private, no-cache", "authorization")


@pytest.fixture
def issuer() -> Issuer:
    issuer = Issuer()
    issuer.url = "https://as.example"
    return issuer


@pytest.fixture
def guarded(issuer: Issuer) -> Any:
    auth = Auth(issuer=issuer.url, audience=RESOURCE, jwks={"keys": issuer.keys})
    return market(scopes=SCOPES, auth=auth).asgi()


async def test_who_shows_no_token_sees_nothing(guarded: Any) -> None:
    for kind in KINDS:
        answer = await ask(guarded, kind)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer ")


async def test_who_may_not_ask_for_the_list_is_told_what_that_takes(guarded: Any, issuer: Issuer) -> None:
    headers = {"authorization": f"Bearer {issuer.mint(scope='other')}"}
    answer = await ask(guarded, headers=headers)
    assert answer.status == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert 'scope="see"' in answer.headers["www-authenticate"]
    assert (await ask(guarded, "prompts", headers=headers)).status == 200


async def test_who_may_gets_it(guarded: Any, issuer: Issuer) -> None:
    answer = await ask(guarded, headers={"authorization": f"Bearer {issuer.mint(scope='see')}"})
    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-cache")


async def test_a_browser_asks_for_leave_without_a_token(guarded: Any) -> None:
    headers = {"origin": "http://localhost:3000", "access-control-request-method": "GET"}
    answer = await ask(guarded, method="OPTIONS", headers=headers)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, "*")
