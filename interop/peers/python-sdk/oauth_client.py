"""The client of the official Python SDK, on its way through OAuth: from the first 401 to the next token.

It knows the address of a protected server and nothing else. What its SDK then does is noted by the HTTP
client that the SDK uses, and every step says what must have happened, and what must not.
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
from oauth_journey import Journey, Task, post
from reporting import Step, expect, run_steps, text_of
from storage import Storage

GARBAGE = OAuthToken(access_token="no-token-of-anybody")


class Program:
    """One connection for the way itself; those who begin elsewhere have journeys of their own."""

    def __init__(self, task: Task, connections: AsyncExitStack) -> None:
        self.task = task
        self.connections = connections
        self.first = Journey(task, task.reference)
        self.used: list[str] = []

    async def discovery(self) -> str:
        self.client = await self.connections.enter_async_context(self.first.connect())
        visits = self.first.visits
        expect(visits[0].status, 401, "status of the first request")
        assert "resource_metadata=" in visits[0].challenge and "error=" not in visits[0].challenge, visits[0]
        expect(visits[1].place, "/.well-known/oauth-protected-resource/mcp", "second request")
        expect(visits[2].place, "/.well-known/oauth-authorization-server", "third request")
        return "401, then the metadata of the resource, then of its issuer"

    async def registration(self) -> str:
        expect([visit.status for visit in self.first.at("/register")], [201], "registrations")
        known = self.first.storage.client
        assert known is not None and known.client_secret, "no secret"
        expect(known.issuer, self.task.issuer, "issuer of the registration")
        return str(known.token_endpoint_auth_method)

    async def authorization(self) -> str:
        (asked,) = self.first.browser.asked
        expect(asked["code_challenge_method"], "S256", "code_challenge_method")
        expect(asked["resource"], self.task.reference, "resource")
        expect(asked["scope"], "use offline_access", "scope")
        assert self.first.browser.answer is not None
        expect(self.first.browser.answer.iss, self.task.issuer, "iss of the answer")
        expect(self.first.exchanged(), [("authorization_code", 200)], "at the token endpoint")
        return "PKCE S256, resource, iss"

    async def token(self) -> str:
        """Verified here by the keys that the issuer publishes, or known to the issuer alone."""
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
        raise AssertionError("a changed signature was good, too")

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
        expect(self.first.at("/authorize"), [], "visits of the browser")
        after = self.first.tokens
        assert before.access_token != after.access_token, "the token is the same"
        assert before.refresh_token != after.refresh_token, "the refresh token was not rotated"
        self.used.append(str(before.refresh_token))
        return "a new token and a new refresh token, without the browser"

    async def reuse(self) -> str:
        """An old refresh token comes back: its whole family is revoked, and the client begins again."""
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
        journey = Journey(self.task, self.task.reference, Storage(GARBAGE))
        await self.sum_by(journey)
        assert 'error="invalid_token"' in journey.visits[0].challenge, journey.visits[0]
        expect((journey.visits[0].status, len(journey.at("/authorize"))), (401, 1), "way")
        return "401 invalid_token, then authorized"

    async def small_scope(self) -> str:
        """The token that it has kept is good, but for something else."""
        form = {"grant_type": "client_credentials", "scope": "look", "resource": self.task.reference}
        robot = (self.task.robot, self.task.robot_secret)
        given = (await post(self.task.at("/token"), form, robot)).json()
        kept = OAuthToken(access_token=given["access_token"], scope="look")
        journey = Journey(self.task, self.task.reference, Storage(kept))
        await self.sum_by(journey)
        assert 'error="insufficient_scope"' in journey.visits[0].challenge, journey.visits[0]
        expect(journey.visits[0].status, 403, "status")
        return f"403 insufficient_scope, then granted {journey.tokens.scope}"

    async def step_up(self) -> str:
        """In the middle of a connection, for one tool. The client is one that need not register: the SDK
        registers for the scopes of the first challenge only, and is not given more than it registered for."""
        journey = Journey(self.task, self.task.stepped, Storage(client=self.task.known_client()))
        async with journey.connect() as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            expect(names, {"look"}, "tools before")
            journey.forget()
            changed = await client.call_tool("change", {})
            assert text_of(changed.content).startswith("changed by "), changed
            (refused,) = (visit for visit in journey.visits if visit.status == 403)
            assert 'error="insufficient_scope"' in refused.challenge and "write" in refused.challenge, refused
            names = {tool.name for tool in (await client.list_tools()).tools}
            expect(names, {"look", "change"}, "tools after")
        return f"403 insufficient_scope, then granted {journey.tokens.scope}"

    async def public_client(self) -> str:
        journey = Journey(self.task, self.task.reference, method="none")
        await self.sum_by(journey)
        assert journey.storage.client is not None
        expect(journey.storage.client.client_secret, None, "secret")
        await journey.expire()
        await self.sum_by(journey)
        expect(journey.exchanged()[:1], [("refresh_token", 200)], "exchanged")
        return "registered without a secret, authorized and refreshed"

    async def client_secret(self) -> str:
        storage, task = Storage(), self.task
        provider = ClientCredentialsOAuthProvider(
            task.reference, storage, task.robot, task.robot_secret, issuer=task.issuer
        )
        await self.sum_by(journey := Journey(task, task.reference, storage, provider=provider))
        expect(journey.exchanged(), [("client_credentials", 200)], "exchanged")
        return "client credentials"

    async def private_key(self) -> str:
        storage, task = Storage(), self.task
        signing = SignedJWTParameters(
            issuer=task.keyed, subject=task.keyed, signing_key=task.private_key, signing_algorithm="ES256"
        )
        sign = signing.create_assertion_provider()
        provider = PrivateKeyJWTOAuthProvider(task.reference, storage, task.keyed, sign, issuer=task.issuer)
        await self.sum_by(journey := Journey(task, task.reference, storage, provider=provider))
        expect(journey.exchanged(), [("client_credentials", 200)], "exchanged")
        return "client credentials, by a signed assertion"

    async def sum_by(self, journey: Journey) -> None:
        async with journey.connect() as client:
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
