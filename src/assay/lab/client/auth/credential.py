"""What clients show of themselves, and which authorization server gave it to them."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote_plus, urlsplit

import jwt
from msgspec import Struct

from assay.authority.keys import UNREADABLE
from assay.authority.record import Client
from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.scripted_server.client_script import ClientScript

from .flow import Journey, Stop
from .official_step import SHARED, asked_for, walked
from .protected_server import TWO

REGISTRY: Final = "registry"
"""The room of a place that registers nobody."""


def client_of(stop: Stop) -> str:
    """Who asks, as the request says: in the header, or among its parameters; empty where it does not say."""
    shown = credentials(stop)
    return shown[0] if shown is not None else str(stop.said.get("client_id") or "")


def registered(journey: Journey, room: str) -> set[str]:
    """The client ids that an authorization server gave out."""
    answers = (
        stop.told for stop in journey.registrations if stop.spot.room == room and stop.call.status < 300
    )
    return {name for told in answers if isinstance(name := told.get("client_id"), str)}


def given(journey: Journey, room: str, *keys: str) -> set[str]:
    """Texts that an authorization server gave out, by their names in its answers."""
    stops = (stop for stop in (*journey.registrations, *journey.exchanges) if stop.spot.room == room)
    return {text for stop in stops for key in keys if (text := _text(stop, key))}


def _text(stop: Stop, key: str) -> str:
    found = stop.told.get(key) if stop.call.status < 300 else None
    return found if isinstance(found, str) else ""


def uses(journey: Journey, room: str) -> Iterator[Stop]:
    """The requests at an authorization server that say who asks."""
    stops = sorted((*journey.authorizations, *journey.exchanges), key=lambda stop: stop.n)
    return (stop for stop in stops if stop.spot.room == room)


def others(journey: Journey, room: str) -> list[str]:
    """The rooms of the other authorization servers."""
    return [spot.room for spot in journey.spots if spot.room != room]


METHOD = "token-endpoint-auth-method"
IN_AUTHORIZATION, IN_TOKEN = "resource-parameter-in-authorization", "resource-parameter-in-token"
VALID, SAME = "resource-parameter-valid-uri", "resource-parameter-consistency"
MATCHES = "resource-parameter-matches-prm"
BASIC, POST, NONE = "client_secret_basic", "client_secret_post", "none"
ROWS: Final = (METHOD, IN_AUTHORIZATION, IN_TOKEN, VALID, SAME, MATCHES, *SHARED)
_OWED: Final = {
    METHOD: "a request to the token endpoint",
    IN_AUTHORIZATION: "an authorization request with `resource`",
    IN_TOKEN: "a token request with `resource`",
}


def authenticated(trace: Trace, method: str) -> Iterator[Observation]:
    """What the scenarios about one method look at."""
    journey = Journey(trace)
    yield from walked(trace, [*_methods(journey, method), *_resources(journey)], wanted=_OWED)


def _methods(journey: Journey, wanted: str) -> Iterator[Observation]:
    for stop in journey.exchanges:
        used = method_of(stop)
        badly = used == BASIC and credentials(stop) is None
        observed = f"{used}, but not as base64 of id and secret" if badly else used
        yield observe(METHOD, used == wanted and not badly, stop, expected=wanted, observed=observed)


def method_of(stop: Stop) -> str:
    if (stop.call.sent.get("authorization") or "").lower().startswith("basic "):
        return BASIC
    return POST if stop.said.get("client_secret") else NONE


def credentials(stop: Stop) -> tuple[str, str] | None:
    """Id and secret of the header; none where it holds no such thing."""
    encoded = (stop.call.sent.get("authorization") or "").partition(" ")[2]
    try:
        name, colon, secret = b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return (unquote_plus(name), unquote_plus(secret)) if colon else None


def _resources(journey: Journey) -> Iterator[Observation]:
    for row, stops in ((IN_AUTHORIZATION, journey.authorizations), (IN_TOKEN, journey.exchanges)):
        for stop in stops:
            named = str(stop.said.get("resource") or "")
            yield observe(row, bool(named), stop, expected="a `resource`", observed="none")
            if named:
                yield from _named(named, stop)
    for stop in journey.exchanges:
        asked = asked_for(journey, stop)
        first, then = (one.said.get("resource") if one else None for one in (asked, stop))
        if asked is not None and first and then:
            expected = f"the resource {first}, as in the authorization request"
            yield observe(SAME, first == then, asked, stop, expected=expected, observed=then)


def _named(named: str, stop: Stop) -> Iterator[Observation]:
    expected = "an absolute URI without a fragment"
    yield observe(VALID, is_absolute(named) and "#" not in named, stop, expected=expected, observed=named)
    wanted = stop.spot.resource
    yield observe(MATCHES, named == wanted, stop, expected=f"{wanted}, as in the metadata", observed=named)


def is_absolute(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)


GRANT: Final = "client_credentials"
NAME: Final = "conformance-test-client"
BRIEF: Final = ClientScript(steps=TWO, oauth={"grant": GRANT})
GRANT_ROW: Final = "client-credentials-grant-type"
OWED: Final = {GRANT_ROW: f"a token request of the type {GRANT}"}


class Jwt(Struct, frozen=True):
    """What a JWT says of itself; nothing where it is none."""

    header: dict[str, Any] = {}
    claims: dict[str, Any] = {}


def read_jwt(token: object) -> Jwt:
    """Its signature is not looked at."""
    try:
        claims = jwt.decode(str(token), options={"verify_signature": False})
        return Jwt(jwt.get_unverified_header(str(token)), claims)
    except UNREADABLE:
        return Jwt()


def settings(known: Client, method: str) -> dict[str, Any]:
    """Of an authority that knows this client alone."""
    return {
        "grants": (GRANT,),
        "methods": (method,),
        "registration": False,
        "clients": (known,),
        "metadata": {"grant_types_supported": [GRANT]},
    }


def grant_types(journey: Journey) -> Iterator[Observation]:
    for stop in journey.exchanges:
        kind = stop.said.get("grant_type")
        yield observe(GRANT_ROW, kind == GRANT, stop, expected=f"grant_type {GRANT}", observed=repr(kind))
