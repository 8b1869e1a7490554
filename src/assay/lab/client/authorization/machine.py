"""Clients that act for themselves: how they are known, and what they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jwt
from msgspec import Struct

from assay.authority.keys import UNREADABLE
from assay.authority.record import Client
from assay.lab.harness.scripted_server.brief import Brief
from assay.lab.harness.verdict import Observation, observe

from .authorizing import TWO
from .journey import Journey

GRANT: Final = "client_credentials"
NAME: Final = "conformance-test-client"
BRIEF: Final = Brief(steps=TWO, oauth={"grant": GRANT})
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
