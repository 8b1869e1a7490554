"""One OAuth flow of a Python SDK client: its storage, its browser, and its HTTP exchanges."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl
from report import PER_REQUEST, expect
from storage import Storage
from wire import TIMEOUT

# No server listens there: the browser reads the redirect and does not follow it.
CALLBACK = "http://127.0.0.1:9/callback"
# The SDK may consider a token valid slightly longer than its lifetime.
MARGIN = 0.3


@dataclass(frozen=True)
class Task:
    """The task from the runner: servers, issuer, and registered clients. Secrets are in environment
    variables, which other users cannot read."""

    revision: str
    reference: str
    stepped: str
    issuer: str
    opaque: bool
    lifetime: float
    robot: str
    keyed: str

    @classmethod
    def from_arguments(cls) -> "Task":
        return cls(**json.loads(sys.argv[1]))

    @property
    def robot_secret(self) -> str:
        return os.environ["ROBOT_SECRET"]

    @property
    def private_key(self) -> str:
        return os.environ["PRIVATE_KEY"]

    @property
    def mode(self) -> str:
        return "auto" if self.revision == PER_REQUEST else "legacy"

    def at(self, place: str) -> str:
        return f"{self.issuer}{place}"

    def known_client(self) -> OAuthClientInformationFull:
        return OAuthClientInformationFull(
            client_id=self.robot,
            client_secret=self.robot_secret,
            token_endpoint_auth_method="client_secret_post",
            redirect_uris=[AnyUrl(CALLBACK)],
            issuer=self.issuer,
        )


@dataclass(frozen=True)
class Exchange:
    place: str
    status: int
    challenge: str = ""
    grant: str = ""


class Browser:
    """Opens the authorization endpoint and reads the redirect."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self.exchanges = exchanges
        self.requests: list[dict[str, str]] = []
        self.answer: AuthorizationCodeResult | None = None

    async def open(self, url: str) -> None:
        self.requests.append(dict(parse_qsl(urlsplit(url).query)))
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as http:
            page = await http.get(url)
        self.exchanges.append(Exchange(urlsplit(url).path, page.status_code))
        location = page.headers.get("location", "")
        assert location.startswith(f"{CALLBACK}?"), f"{page.status_code}, redirected elsewhere"
        query = dict(parse_qsl(urlsplit(location).query))
        expect(query.get("error_description", query.get("error")), None, "refusal")
        self.answer = AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])

    async def come_back(self) -> AuthorizationCodeResult:
        assert self.answer is not None
        return self.answer


class OAuthFlow:
    """One client of the SDK, with its storage and its exchanges since `forget`."""

    def __init__(
        self,
        task: Task,
        url: str,
        storage: Storage | None = None,
        *,
        method: Any = None,
        provider: OAuthClientProvider | None = None,
    ) -> None:
        self.task = task
        self.url = url
        self.storage = storage or Storage()
        self.exchanges: list[Exchange] = []
        self.browser = Browser(self.exchanges)
        self.provider = provider or self._provider(method)

    def _provider(self, method: Any) -> OAuthClientProvider:
        about = OAuthClientMetadata(
            redirect_uris=[AnyUrl(CALLBACK)], client_name="interop", token_endpoint_auth_method=method
        )
        return OAuthClientProvider(
            self.url,
            about,
            self.storage,
            redirect_handler=self.browser.open,
            callback_handler=self.browser.come_back,
        )

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Client]:
        hooks = {"response": [self._on_response]}
        async with (
            httpx2.AsyncClient(auth=self.provider, timeout=TIMEOUT, event_hooks=hooks) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=self.task.mode) as client,
        ):
            yield client

    async def _on_response(self, response: httpx2.Response) -> None:
        request = response.request
        grant = ""
        if request.url.path == "/token":
            grant = dict(parse_qsl(request.content.decode()))["grant_type"]
        challenge = response.headers.get("www-authenticate", "")
        self.exchanges.append(Exchange(request.url.path, response.status_code, challenge, grant))

    @property
    def tokens(self) -> OAuthToken:
        assert self.storage.tokens is not None, "no tokens are stored"
        return self.storage.tokens

    def at(self, place: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.place == place]

    def exchanged(self) -> list[tuple[str, int]]:
        return [(exchange.grant, exchange.status) for exchange in self.at("/token")]

    def forget(self) -> None:
        self.exchanges.clear()

    async def expire(self) -> None:
        """Wait until the token has expired, and forget earlier exchanges."""
        await asyncio.sleep(self.task.lifetime + MARGIN)
        self.forget()


async def post(url: str, form: dict[str, str], client: tuple[str, str]) -> httpx2.Response:
    """Send a form as the given client."""
    async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
        return await http.post(url, data=form, auth=client)
