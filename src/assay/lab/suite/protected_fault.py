"""Faults of protected servers.

They run in front of a server that verifies tokens. To admit a request, a fault gives it the first credentials
of the conversation, which are valid.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable
from typing import Any

import msgspec

from assay.lab.harness import FaultContext, Json, Request, Response, on_call
from assay.lab.harness.naming import id_of
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, Saboteur
from assay.lab.harness.subject.bearer import claims_of
from assay.lab.harness.trace.authorization import WELL_KNOWN

FIRST = "first credentials"
Selects = Callable[[Request, FaultContext], bool]


def admits(fault: str, *, breaks: str, id: str = "", **options: Any) -> Callable[[Selects], Saboteur]:
    """Turn a function that selects requests into a saboteur that admits them with any token or none."""

    def decorated(selects: Selects) -> Saboteur:
        def admit(request: Request, context: FaultContext) -> None:
            remember_first(request, context)
            if selects(request, context):
                as_first(request, context)

        settings = {"server": WITH_TOKENS, **options}
        saboteur: Saboteur = on_call(fault, id=id or id_of(selects), breaks=breaks, **settings)(admit)
        return saboteur

    return decorated


def remember_first(request: Request, context: FaultContext) -> None:
    if not lacks_token(request):
        context.memory.setdefault(FIRST, request.header("authorization"))


def as_first(request: Request, context: FaultContext) -> None:
    """Give the request the first credentials of the conversation."""
    request.set("Authorization", context.memory.get(FIRST))


def lacks_token(request: Request) -> bool:
    return request.header("authorization") is None


def claims(request: Request) -> Json:
    return _claims(request.header("authorization"))


def first_claims(context: FaultContext) -> Json:
    return _claims(context.memory.get(FIRST))


def _claims(credentials: str | None) -> Json:
    return claims_of((credentials or "").partition(" ")[2]) or {}


def has_other_audience(request: Request, context: FaultContext) -> bool:
    return bool(claims(request).get("aud") != first_claims(context).get("aud"))


def header(request: Request) -> dict[str, Any]:
    """The header of the request's token."""
    text = (request.header("authorization") or "").partition(" ")[2].partition(".")[0]
    try:
        content = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def is_expired(request: Request) -> bool:
    expiry = claims(request).get("exp")
    return isinstance(expiry, int) and expiry < time.time()


def is_metadata_request(context: FaultContext) -> bool:
    """Whether the request is for the metadata of the protected resource."""
    return context.call is not None and context.call.target.startswith(WELL_KNOWN)


def drop_from_challenge(response: Response, name: str) -> None:
    """Remove a parameter from the challenge."""
    challenge = response.header("www-authenticate")
    if challenge is not None:
        without = re.sub(rf'\b{name}="[^"]*"(, )?', "", challenge)
        response.set("WWW-Authenticate", without.removesuffix(", "))


def set_challenge_scope(response: Response, scope: str) -> None:
    drop_from_challenge(response, "scope")
    response.set("WWW-Authenticate", f'{response.header("www-authenticate")}, scope="{scope}"')
