"""The OAuth flow of the official Python SDK's client: from the first 401 to refreshed tokens.

It starts with the address of a protected server. The HTTP client of the SDK records every exchange, and each
step asserts what must and must not have happened.
"""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import jwt
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import OAuthToken
from oauth_flow import OAuthFlow, Task, post
from report import Step, expect, run_steps, text_of
from storage import Storage

GARBAGE = OAuthToken(access_token="no-token-of-anybody")


class Program:
    """The main flow has one connection; steps with another start have separate flows."""

    def __init__(self, task: Task, connections: AsyncExitStack) -> None:
        self.task = task
        self.connections = connections
        self.first = OAuthFlow(task, task.reference)
        self.used: list[str] = []

    async def discovery(self) -> str:
        self.client = await self.connections.enter_async_context(self.first.connect())
        exchanges = self.first.exchanges
        expect(exchanges[0].status, 401, "status of the first request")
        assert "resource_metadata=" in exchanges[0].challenge and "error=" not in exchanges[0].challenge, (
            exchanges[0]
        )
        expect(exchanges[1].place, "/.well-known/oauth-protected-resource/mcp", "second request")
        expect(exchanges[2].place, "/.well-known/oauth-authorization-server", "third request")
        return "401, then the metadata of the resource, then of its issuer"

    async def registration(self) -> str:
        expect([exchange.status for exchange in self.first.at("/register")], [201], "registrations")
        known = self.first.storage.client
        assert known is not None and known.client_secret, "no secret"
        expect(known.issuer, self.task.issuer, "issuer of the registration")
        return str(known.token_endpoint_auth_method)

    async def authorization(self) -> str:
        (request,) = self.first.browser.requests
        expect(request["code_challenge_method"], "S256", "code_challenge_method")
        expect(request["resource"], self.task.reference, "resource")
        expect(request["scope"], "use offline_access", "scope")
        assert self.first.browser.answer is not None
        expect(self.first.browser.answer.iss, self.task.issuer, "iss of the answer")
        expect(self.first.exchanged(), [("authorization_code", 200)], "at the token endpoint")
        return "PKCE S256, resource, iss"

    async def token(self) -> str:
        """Verify the token with the published keys, or introspect it."""
        access = self.first.tokens.access_token
        if self.task.opaque:
            robot = (self.task.robot, self.task.robot_secret)
            known = (await post(self.task.at("/introspect"), {"token": access}, robot)).json()
            expect((known["active"], known["aud"]), (True, self.task.reference), "introspection")
            return "opaque, active"
        expect(jwt.get_unverified_header(access)["typ"], "at+jwt", "typ")
        key = jwt.PyJWKClient(self.task.at("/jwks")).get_signing_key_from_jwt(access)
        options: Any = {"audience": self.task.reference, "issuer": self.task.issuer}
        jwt.decode(access, key, algorithms=["ES256"], **options)
        try:
            jwt.decode(f"{access[:-6]}AAAAAA", key, algorithms=["ES256"], **options)
        except jwt.InvalidSignatureError:
            return "ES256 by a published key"
        raise AssertionError("a changed signature was accepted")

    async def tools(self) -> str:
        expect(self.client.protocol_version, self.task.revision, "negotiated")
        names = [tool.name for tool in (await self.client.list_tools()).tools]
        assert "sum" in names, names
        await self.call()
        return f"{len(names)} tools, one called"

    async def call(self) -> None:
        total = await self.client.call_tool("sum", {"a": 7, "b": 8})
        expect(total.structured_content, {"total": 15}, "sum")

    async def refresh(self) -> str:
        before = self.first.tokens
        await self.first.expire()
        await self.call()
        assert set(self.first.exchanged()) == {("refresh_token", 200)}, self.first.exchanged()
        expect(self.first.at("/authorize"), [], "authorizations")
        after = self.first.tokens
        assert before.access_token != after.access_token, "the token is the same"
        assert before.refresh_token != after.refresh_token, "the refresh token was not rotated"
        self.used.append(str(before.refresh_token))
        return "a new token and a new refresh token, without the browser"

    async def reuse(self) -> str:
        """Reusing an old refresh token revokes its family, and the client authorizes again."""
        known = self.first.storage.client
        assert known is not None
        form = {"grant_type": "refresh_token", "refresh_token": self.used[0]}
        again = await post(self.task.at("/token"), form, (known.client_id, str(known.client_secret)))
        expect((again.status_code, again.json()["error"]), (400, "invalid_grant"), "the used one")
        await self.first.expire()
        await self.call()
        expect(self.first.exchanged(), [("refresh_token", 400), ("authorization_code", 200)], "exchanged")
        expect(self.first.at("/register"), [], "registrations")
        return "refused; its family too; authorized again, as the same client"

    async def bad_token(self) -> str:
        flow = OAuthFlow(self.task, self.task.reference, Storage(GARBAGE))
        await self.sum_by(flow)
        assert 'error="invalid_token"' in flow.exchanges[0].challenge, flow.exchanges[0]
        expect((flow.exchanges[0].status, len(flow.at("/authorize"))), (401, 1), "status and authorizations")
        return "401 invalid_token, then authorized"

    async def small_scope(self) -> str:
        """Start with a valid token that has other scopes."""
        form = {"grant_type": "client_credentials", "scope": "look", "resource": self.task.reference}
        robot = (self.task.robot, self.task.robot_secret)
        answer = (await post(self.task.at("/token"), form, robot)).json()
        stored = OAuthToken(access_token=answer["access_token"], scope="look")
        flow = OAuthFlow(self.task, self.task.reference, Storage(stored))
        await self.sum_by(flow)
        assert 'error="insufficient_scope"' in flow.exchanges[0].challenge, flow.exchanges[0]
        expect(flow.exchanges[0].status, 403, "status")
        return f"403 insufficient_scope, then granted {flow.tokens.scope}"

    async def step_up(self) -> str:
        """Step up within a connection, for one tool. The client is preregistered, because the SDK registers
        for the scopes of the first challenge only and does not get more than it registered for."""
        flow = OAuthFlow(self.task, self.task.stepped, Storage(client=self.task.known_client()))
        async with flow.connect() as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            expect(names, {"look"}, "tools before")
            flow.forget()
            changed = await client.call_tool("change", {})
            assert text_of(changed.content).startswith("changed by "), changed
            (refused,) = (exchange for exchange in flow.exchanges if exchange.status == 403)
            assert 'error="insufficient_scope"' in refused.challenge and "write" in refused.challenge, refused
            names = {tool.name for tool in (await client.list_tools()).tools}
            expect(names, {"look", "change"}, "tools after")
        return f"403 insufficient_scope, then granted {flow.tokens.scope}"

    async def public_client(self) -> str:
        flow = OAuthFlow(self.task, self.task.reference, method="none")
        await self.sum_by(flow)
        assert flow.storage.client is not None
        expect(flow.storage.client.client_secret, None, "secret")
        await flow.expire()
        await self.sum_by(flow)
        expect(flow.exchanged()[:1], [("refresh_token", 200)], "exchanged")
        return "registered without a secret, authorized and refreshed"

    async def client_secret(self) -> str:
        storage, task = Storage(), self.task
        provider = ClientCredentialsOAuthProvider(
            task.reference, storage, task.robot, task.robot_secret, issuer=task.issuer
        )
        await self.sum_by(flow := OAuthFlow(task, task.reference, storage, provider=provider))
        expect(flow.exchanged(), [("client_credentials", 200)], "exchanged")
        return "client credentials"

    async def private_key(self) -> str:
        storage, task = Storage(), self.task
        signing = SignedJWTParameters(
            issuer=task.keyed, subject=task.keyed, signing_key=task.private_key, signing_algorithm="ES256"
        )
        sign = signing.create_assertion_provider()
        provider = PrivateKeyJWTOAuthProvider(task.reference, storage, task.keyed, sign, issuer=task.issuer)
        await self.sum_by(flow := OAuthFlow(task, task.reference, storage, provider=provider))
        expect(flow.exchanged(), [("client_credentials", 200)], "exchanged")
        return "client credentials, by a signed assertion"

    async def sum_by(self, flow: OAuthFlow) -> None:
        async with flow.connect() as client:
            total = await client.call_tool("sum", {"a": 1, "b": 2})
            expect(total.structured_content, {"total": 3}, "sum")

    def steps(self) -> dict[str, Step]:
        return {
            "discovery": self.discovery,
            "registration": self.registration,
            "authorization": self.authorization,
            "token": self.token,
            "tools": self.tools,
            "refresh": self.refresh,
            "reuse": self.reuse,
            "bad token": self.bad_token,
            "small scope": self.small_scope,
            "step-up": self.step_up,
            "public client": self.public_client,
            "client secret": self.client_secret,
            "private key": self.private_key,
        }


async def main() -> None:
    async with AsyncExitStack() as connections:
        program = Program(Task.from_arguments(), connections)
        await run_steps(program.steps())


if __name__ == "__main__":
    asyncio.run(main())
