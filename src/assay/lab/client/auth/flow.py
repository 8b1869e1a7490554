"""What a client did on its way to a token, and with it, read from a trace.

Where everything was, the scenario told (`protected.py`). Requests are known by the address that they came to
and by their path, whatever name the client has for this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness import Trace
from assay.lab.harness.links.http_text import body_of
from assay.lab.harness.scripted_server.client_run import SETTING
from assay.lab.harness.trace.challenge import Challenge, challenges
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Call

from .protected_server import ENDPOINT, LAID_OUT, ROOT

OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"
TOKEN_SCHEMES: Final = ("bearer", "dpop")


class Spot(Struct, frozen=True):
    """An authorization server, and the resource beside it."""

    room: str
    url: str
    """Of the endpoint."""
    resource: str
    metadata: str
    """Of the resource; empty where it has none."""
    issuer: str
    authorize: str
    token: str
    register: str
    documents: tuple[str, ...]
    """Where the server's metadata is."""

    @property
    def tenant(self) -> str:
        """The path of the issuer."""
        return path_of(self.issuer).rstrip("/")


class Stop(Struct, frozen=True):
    """A request to an authorization server."""

    call: Call
    spot: Spot
    said: dict[str, Any]
    """Its query, form or JSON."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.call.frames

    @property
    def told(self) -> dict[str, Any]:
        """The answer, where that is a JSON object."""
        return content(self.call)

    @property
    def answered(self) -> dict[str, str]:
        """The answer, where that is a redirect."""
        where = "" if self.call.head is None else self.call.head.get("location") or ""
        return dict(_pairs(where.partition("?")[2]))

    @property
    def scopes(self) -> list[str]:
        return str(self.said.get("scope") or "").split()

    @property
    def n(self) -> int:
        return self.call.request.n


class Journey:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        marks = (mark.info for mark in trace.marks(LAID_OUT))
        self.spots = [msgspec.convert(info, Spot) for info in marks]
        # What a browser asks in advance is not the client's.
        self.calls = [call for call in trace.calls if call.sent.method != "OPTIONS"]

    @cached_property
    def context(self) -> dict[str, Any]:
        """What the client was given."""
        found = next((mark.info.get("context") for mark in self.trace.marks(SETTING)), None)
        return found if isinstance(found, dict) else {}

    # -- at the endpoint -------------------------------------------------------------------------------------

    @cached_property
    def visits(self) -> list[Call]:
        """Requests to the endpoint itself."""
        paths = {path_of(spot.url) for spot in self.spots}
        return [call for call in self._in(ENDPOINT) if path_in(call) in paths]

    @cached_property
    def challenged(self) -> list[tuple[Call, Challenge]]:
        """Requests that were answered with a challenge, each with the first."""
        refused = (call for call in self.visits if call.status in (401, 403))
        return [(call, told[0]) for call in refused if (told := challenges(call.head))]

    @cached_property
    def resource_documents(self) -> list[Call]:
        """Requests for the metadata of the resource, wherever the client looked for it."""
        places = {path_of(spot.metadata) for spot in self.spots if spot.metadata}
        return [one for one in self._in(ENDPOINT) if path_in(one) in places or path_in(one).startswith(ROOT)]

    # -- at authorization servers ----------------------------------------------------------------------------

    @cached_property
    def server_documents(self) -> list[Call]:
        """Requests for metadata of authorization servers, wherever the client looked for it."""
        return [call for call in self.calls if OAUTH in path_in(call) or OIDC in path_in(call)]

    def documents_of(self, spot: Spot) -> list[Call]:
        return [call for call in self.server_documents if call.request.connection == spot.room]

    @cached_property
    def registrations(self) -> list[Stop]:
        return list(self._stops("register"))

    @cached_property
    def authorizations(self) -> list[Stop]:
        return list(self._stops("authorize"))

    @cached_property
    def exchanges(self) -> list[Stop]:
        """Requests for tokens."""
        return list(self._stops("token"))

    @cached_property
    def tokens(self) -> dict[str, Stop]:
        """Each access token that was given out, with how."""
        given = ((stop.told.get("access_token"), stop) for stop in self.exchanges if stop.call.status == 200)
        return {token: stop for token, stop in given if isinstance(token, str)}

    def metadata_of(self, spot: Spot) -> dict[str, Any]:
        """What the client read about an authorization server; empty where it read nothing."""
        found = (content(call) for call in self.documents_of(spot) if call.status == 200)
        return next((one for one in found if one), {})

    def _stops(self, what: str) -> Iterator[Stop]:
        for call in self.calls:
            for spot in self.spots:
                if call.request.connection == spot.room and path_in(call) == path_of(getattr(spot, what)):
                    yield Stop(call, spot, _SAID[what](call))
                    break

    def _in(self, room: str) -> Iterator[Call]:
        return (call for call in self.calls if call.request.connection == room)


def bearer(call: Call) -> str:
    """The token that a request shows; empty where it shows none."""
    scheme, _, token = (call.sent.get("authorization") or "").partition(" ")
    return token.strip() if scheme.lower() in TOKEN_SCHEMES else ""


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
    """Those that were sent before a frame."""
    return [call for call in calls if call.request.n < n]


def form_of(call: Call) -> dict[str, Any]:
    return dict(_pairs(body_of(call.request.raw).decode("utf-8", "replace")))


def _description(call: Call) -> dict[str, Any]:
    return _json(body_of(call.request.raw))


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True)
    except ValueError:
        return []


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body) if body else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_SAID: Final = {"register": _description, "authorize": query_of, "token": form_of}
