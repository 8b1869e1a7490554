"""Scopes of single tools: a challenge names every missing scope, and a token that has them is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from assay import Context, Server
from assay.auth import Auth
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from assay.transport.http1.tls import make_context
from tests.auth.issuer import RESOURCE, Issuer
from tests.auth.test_bindings import fingerprint
from tests.driving.asgi import AsgiPeer
from tests.driving.certificates import Authority
from tests.driving.describing import describe, mirrors
from tests.driving.messages import call, request
from tests.transport.http1.test_tls import serving

METADATA = "http://localhost:3000/.well-known/oauth-protected-resource/mcp"
CHALLENGE = {
    'error="insufficient_scope"',
    'scope="use call write"',
    f'resource_metadata="{METADATA}"',
}


class Shop:
    """A protected server whose tool records its callers."""

    def __init__(self, **options: Any) -> None:
        self.issuer = Issuer()
        self.issuer.url = "https://as.example"
        settings = {"issuer": self.issuer.url, "audience": RESOURCE, "jwks": {"keys": self.issuer.keys}}
        auth = Auth(**settings, scopes=["use"], **options)
        self.server = Server("shop", auth=auth, scopes={"tools/call": ["call"]})
        self.saved: list[Any] = []
        self.server.tool(scopes=["write"])(self.save)

    async def save(self, ctx: Context) -> str:
        self.saved.append(ctx.principal)
        return "saved"

    def authorization(self, scope: str, **claims: Any) -> dict[str, str | None]:
        return {"authorization": f"Bearer {self.issuer.mint(scope=scope, **claims)}"}


class Granted(AsgiPeer):
    """Sends a token whose scopes may change in the middle of a session."""

    def __init__(self, shop: Shop, scope: str) -> None:
        super().__init__(shop.server.asgi())
        self._shop = shop
        self.scope = scope

    def _headers(self, method: str, changed: dict[str, str | None]) -> dict[str, str]:
        return super()._headers(method, {**self._shop.authorization(self.scope), **changed})


def parts(challenge: str) -> set[str]:
    scheme, _, rest = challenge.partition(" ")
    assert scheme == "Bearer"
    return set(rest.split(", "))


@pytest.mark.parametrize("scope", ["use", "use call", "use write"])
@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_a_session_steps_up(revision: Revision, scope: str) -> None:
    shop = Shop()
    async with await Granted(shop, scope).shake_hands(revision) as client:
        refused = await client.call("save")
        assert (refused.status, parts(refused.headers["www-authenticate"])) == (403, CHALLENGE)
        assert shop.saved == []
        client.scope = "use call write"
        assert (await client.call("save")).status == 200
        assert shop.saved == ["https://as.example#sub=ann"]


async def test_a_request_without_a_session_steps_up() -> None:
    shop = Shop()
    message = describe("tools/call", {"name": "save", "arguments": {}})
    async with Granted(shop, "use") as client:
        refused = await client.post(message, headers=mirrors(message))
        assert (refused.status, parts(refused.headers["www-authenticate"])) == (403, CHALLENGE)
        client.scope = "use call write"
        assert (await client.post(message, headers=mirrors(message))).status == 200


async def test_lists_show_what_was_granted_and_what_that_includes() -> None:
    shop = Shop(hierarchy={"admin": ["write", "call"]})
    async with Granted(shop, "use") as client:
        for scope, names in (("use", []), ("use write", ["save"]), ("use admin", ["save"])):
            client.scope = scope
            tools = (await client.post(request("tools/list"))).json["result"]["tools"]
            assert [tool["name"] for tool in tools] == names
        assert (await client.call("save")).status == 200


async def test_a_bound_token_is_accepted_with_its_certificate_only(tmp_path: Path) -> None:
    shop, authority = Shop(), Authority(tmp_path, "authority")
    pairs = [authority.issue(name) for name in ("server", "ann", "bob")]
    ours, ann, bob = pairs
    bound = {"x5t#S256": fingerprint(ann.cert.read_text())}
    token = shop.authorization("use call write", cnf=bound)
    headers = {**token, "accept": "application/json, text/event-stream"}
    async with serving(shop.server.asgi(), make_context(*ours, authority.file)) as port:
        statuses = []
        for pair in (ann, bob):
            async with httpx2.AsyncClient(verify=authority.client_context(pair), trust_env=False) as client:
                answer = await client.post(
                    f"https://localhost:{port}/mcp", json=call("save"), headers=headers
                )
                statuses.append(answer.status_code)
    assert statuses == [200, 401]
    assert shop.saved == ["https://as.example#sub=ann"]
