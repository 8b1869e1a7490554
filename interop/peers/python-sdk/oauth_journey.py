"""A client of the Python SDK on a journey: what it keeps, the browser it opens, and where it went."""

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
from reporting import PER_REQUEST, expect
from storage import Storage
from wire import TIMEOUT

# Nobody listens there: the browser reads where it is sent, and does not go.
CALLBACK = "http://127.0.0.1:9/callback"
# The SDK compares with a clock of its own; a token that ends now may be good for it a moment longer.
MARGIN = 0.3


@dataclass(frozen=True)
class Task:
    """What the runner tells: servers, the issuer, and clients that the issuer knows. Secrets come by the
    environment, which nobody else can read."""

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
class Visit:
    place: str
    status: int
    challenge: str = ""
    grant: str = ""


class Browser:
    """Opens the address of the authorization server and reads where it is sent."""

    def __init__(self, visits: list[Visit]) -> None:
        self.visits = visits
        self.asked: list[dict[str, str]] = []
        self.answer: AuthorizationCodeResult | None = None

    async def open(self, url: str) -> None:
        self.asked.append(dict(parse_qsl(urlsplit(url).query)))
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as http:
            page = await http.get(url)
        self.visits.append(Visit(urlsplit(url).path, page.status_code))
        location = page.headers.get("location", "")
        assert location.startswith(f"{CALLBACK}?"), f"{page.status_code}, sent elsewhere"
        told = dict(parse_qsl(urlsplit(location).query))
        expect(told.get("error_description", told.get("error")), None, "refusal")
        self.answer = AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

    async def come_back(self) -> AuthorizationCodeResult:
        assert self.answer is not None
        return self.answer


class Journey:
    """One client of the SDK, with what it keeps and where it went since `forget`."""

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
        self.visits: list[Visit] = []
        self.browser = Browser(self.visits)
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
        self.visits.append(Visit(request.url.path, response.status_code, challenge, grant))

    @property
    def tokens(self) -> OAuthToken:
        assert self.storage.tokens is not None, "no tokens are kept"
        return self.storage.tokens

    def at(self, place: str) -> list[Visit]:
        return [visit for visit in self.visits if visit.place == place]

    def exchanged(self) -> list[tuple[str, int]]:
        return [(visit.grant, visit.status) for visit in self.at("/token")]

    def forget(self) -> None:
        self.visits.clear()

    async def expire(self) -> None:
        """Wait until the token is over, and look at what comes then only."""
        await asyncio.sleep(self.task.lifetime + MARGIN)
        self.forget()


async def post(url: str, form: dict[str, str], client: tuple[str, str]) -> httpx2.Response:
    """A request of the program's own, as the client with that secret."""
    async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
        return await http.post(url, data=form, auth=client)
