"""What faults of protected servers are made of. They stand before a server that verifies tokens: to let
somebody in, they put a token in place that they saw before."""

from __future__ import annotations

import base64
import re
import time
from typing import Any

import msgspec

from assay.lab.harness import FaultContext, Json, Request, Response
from assay.lab.harness.subject.bearer import claims_of
from assay.lab.harness.trace.resource_metadata import WELL_KNOWN

FIRST = "first credentials"


def lacks_token(request: Request) -> bool:
    return request.header("authorization") is None


def remember_first(request: Request, context: FaultContext) -> None:
    """Keep the first credentials that come by: scenarios begin with good ones."""
    if not lacks_token(request):
        context.memory.setdefault(FIRST, request.header("authorization"))


def as_first(request: Request, context: FaultContext) -> None:
    """Make it the request of whom the first credentials were."""
    request.set("Authorization", context.memory.get(FIRST))


def claims(request: Request) -> Json:
    return _claims(request.header("authorization"))


def first_claims(context: FaultContext) -> Json:
    return _claims(context.memory.get(FIRST))


def _claims(credentials: str | None) -> Json:
    return claims_of((credentials or "").partition(" ")[2]) or {}


def header(request: Request) -> dict[str, Any]:
    """Of the token."""
    text = (request.header("authorization") or "").partition(" ")[2].partition(".")[0]
    try:
        found = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_expired(request: Request) -> bool:
    ends = claims(request).get("exp")
    return isinstance(ends, int) and ends < time.time()


def is_document(context: FaultContext) -> bool:
    """Whether the metadata of the resource is asked for."""
    return context.call is not None and context.call.target.startswith(WELL_KNOWN)


def drop_from_challenge(response: Response, name: str) -> None:
    """Leave one parameter out of the challenges."""
    said = response.header("www-authenticate")
    if said is not None:
        without = re.sub(rf'\b{name}="[^"]*"(, )?', "", said)
        response.set("WWW-Authenticate", without.removesuffix(", "))
