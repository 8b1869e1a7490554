"""The authorization flow of a client, read from a trace.

The scenario records where everything is (`protected_server.py`). A request is identified by the server that
received it and by its path, whichever name the client uses for this machine.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import jwt
import msgspec
from msgspec import Struct

from assay.authority.keys import UNREADABLE
from assay.lab.harness import Trace
from assay.lab.harness.links.http_text import body_of
from assay.lab.harness.scripted_server.client_run import SETTING
from assay.lab.harness.trace.authorization import Challenge, challenges
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Call

from .protected_server import ENDPOINT_NAME, LAYOUT, WELL_KNOWN

OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"
TOKEN_SCHEMES: Final = ("bearer", "dpop")
BASIC, POST, NONE = "client_secret_basic", "client_secret_post", "none"


class AuthorizationServer(Struct, frozen=True, rename={"name": "room"}):
    """An authorization server and its resource, as the trace stores them."""

    name: str
    url: str
    """The URL of the endpoint."""
    resource: str
    metadata: str
    """The URL of the resource's metadata; empty if there is none."""
    issuer: str
    authorize: str
    token: str
    register: str
    documents: tuple[str, ...]
    """The URLs of the server's own metadata."""

    @property
    def tenant(self) -> str:
        """The path of the issuer."""
        return path_of(self.issuer).rstrip("/")


class AuthRequest(Struct, frozen=True):
    """A request to an authorization server."""

    call: Call
    server: AuthorizationServer
    params: dict[str, Any]
    """Its query, form or JSON."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.call.frames

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON object in the response, if any."""
        return content(self.call)

    @property
    def redirect(self) -> dict[str, str]:
        """The parameters of the redirect in the response, if any."""
        location = "" if self.call.head is None else self.call.head.get("location") or ""
        return dict(_pairs(location.partition("?")[2]))

    @property
    def scopes(self) -> list[str]:
        return str(self.params.get("scope") or "").split()

    @property
    def n(self) -> int:
        return self.call.request.n


class Flow:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        marks = (mark.info for mark in trace.marks(LAYOUT))
        self.servers = [msgspec.convert(info, AuthorizationServer) for info in marks]
        # CORS preflights come from the browser, not from the client.
        self.calls = [call for call in trace.calls if call.sent.method != "OPTIONS"]

    @cached_property
    def context(self) -> dict[str, Any]:
        """The context that the client received."""
        context = next((mark.info.get("context") for mark in self.trace.marks(SETTING)), None)
        return context if isinstance(context, dict) else {}

    # -- at the endpoint -------------------------------------------------------------------------------------

    @cached_property
    def endpoint_calls(self) -> list[Call]:
        paths = {path_of(server.url) for server in self.servers}
        return [call for call in self._at(ENDPOINT_NAME) if path_in(call) in paths]

    @cached_property
    def challenged(self) -> list[tuple[Call, Challenge]]:
        """The requests that were answered with a challenge, each with the first one."""
        rejected = (call for call in self.endpoint_calls if call.status in (401, 403))
        return [(call, every[0]) for call in rejected if (every := challenges(call.head))]

    @cached_property
    def resource_documents(self) -> list[Call]:
        """The requests for the resource's metadata, at any path that the client tried."""
        paths = {path_of(server.metadata) for server in self.servers if server.metadata}
        calls = self._at(ENDPOINT_NAME)
        return [call for call in calls if path_in(call) in paths or path_in(call).startswith(WELL_KNOWN)]

    # -- at authorization servers ----------------------------------------------------------------------------

    @cached_property
    def server_documents(self) -> list[Call]:
        """The requests for metadata of authorization servers, at any path that the client tried."""
        return [call for call in self.calls if OAUTH in path_in(call) or OIDC in path_in(call)]

    def documents_of(self, server: AuthorizationServer) -> list[Call]:
        return [call for call in self.server_documents if call.request.connection == server.name]

    @cached_property
    def registrations(self) -> list[AuthRequest]:
        return list(self._requests("register"))

    @cached_property
    def authorizations(self) -> list[AuthRequest]:
        return list(self._requests("authorize"))

    @cached_property
    def token_requests(self) -> list[AuthRequest]:
        return list(self._requests("token"))

    @property
    def requests(self) -> list[AuthRequest]:
        """All of them, in this order: registrations, authorizations, token requests."""
        return [*self.registrations, *self.authorizations, *self.token_requests]

    @cached_property
    def tokens(self) -> dict[str, AuthRequest]:
        """Each access token that a server issued, with the request for it."""
        issued = [
            (request.answer.get("access_token"), request)
            for request in self.token_requests
            if request.call.status == 200
        ]
        return {token: request for token, request in issued if isinstance(token, str)}

    def metadata_of(self, server: AuthorizationServer) -> dict[str, Any]:
        """The metadata of an authorization server that the client read; empty if it read none."""
        documents = (content(call) for call in self.documents_of(server) if call.status == 200)
        return next((document for document in documents if document), {})

    def _requests(self, endpoint: str) -> Iterator[AuthRequest]:
        for call in self.calls:
            for server in self.servers:
                path = path_of(getattr(server, endpoint))
                if call.request.connection == server.name and path_in(call) == path:
                    yield AuthRequest(call, server, _PARAMS[endpoint](call))
                    break

    def _at(self, name: str) -> Iterator[Call]:
        return (call for call in self.calls if call.request.connection == name)


# -- credentials ---------------------------------------------------------------------------------------------


def bearer(call: Call) -> str:
    """The token in a request; empty if there is none."""
    scheme, _, token = (call.sent.get("authorization") or "").partition(" ")
    return token.strip() if scheme.lower() in TOKEN_SCHEMES else ""


def client_of(request: AuthRequest) -> str:
    """The client id in the header or the parameters; empty if there is none."""
    pair = credentials(request)
    return pair[0] if pair is not None else str(request.params.get("client_id") or "")


def credentials(request: AuthRequest) -> tuple[str, str] | None:
    """The id and the secret in a Basic header, if it is valid."""
    encoded = (request.call.sent.get("authorization") or "").partition(" ")[2]
    try:
        name, colon, secret = b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return (unquote_plus(name), unquote_plus(secret)) if colon else None


def method_of(request: AuthRequest) -> str:
    """The method by which the client authenticates."""
    if (request.call.sent.get("authorization") or "").lower().startswith("basic "):
        return BASIC
    return POST if request.params.get("client_secret") else NONE


class Jwt(Struct, frozen=True):
    header: dict[str, Any] = {}
    claims: dict[str, Any] = {}


def read_jwt(token: object) -> Jwt:
    """Decode a JWT without verifying its signature; an empty one if it cannot be decoded."""
    try:
        claims = jwt.decode(str(token), options={"verify_signature": False})
        return Jwt(jwt.get_unverified_header(str(token)), claims)
    except UNREADABLE:
        return Jwt()


# -- addresses and bodies ------------------------------------------------------------------------------------


def is_absolute(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)


def path_of(url: str) -> str:
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return ""


def path_in(call: Call) -> str:
    return path_of(call.sent.target)


def query_of(call: Call) -> dict[str, Any]:
    return dict(_pairs(call.sent.target.partition("?")[2]))


def content(call: Call) -> dict[str, Any]:
    return _json(call.body)


def before(calls: Iterable[Call], n: int) -> list[Call]:
    """The calls that were sent before a frame."""
    return [call for call in calls if call.request.n < n]


def form_of(call: Call) -> dict[str, Any]:
    return dict(_pairs(body_of(call.request.raw).decode("utf-8", "replace")))


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True)
    except ValueError:
        return []


def _json(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body) if body else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


_PARAMS: Final = {
    "register": lambda call: _json(body_of(call.request.raw)),
    "authorize": query_of,
    "token": form_of,
}
