"""Signatures are verified, but with whose key does not matter."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, claims, first_claims, header, is_expired, remember_first


@on_call("a token that a stranger has signed is taken", breaks="CONF-SEC-04.forged", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    said, first = claims(request), first_claims(context)
    by_key = header(request).get("alg") not in ("none", "HS256")
    if by_key and said != first and _about(said) == _about(first) and not is_expired(request):
        as_first(request, context)


def _about(said: dict[str, Any]) -> tuple[Any, ...]:
    return said.get("iss"), said.get("aud"), said.get("scope"), said.get("nbf")
