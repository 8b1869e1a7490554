"""How a client authenticates at the token endpoint, and what it says that the token is for."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_plus, urlsplit

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

from .journey import Journey, Stop
from .official_auth import SHARED, asked_for, walked

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
