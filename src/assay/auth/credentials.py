"""What a request shows of its owner: in the Authorization header, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from .denial import INVALID_REQUEST, Denied, bad_token

Headers = list[tuple[bytes, bytes]]

BEARER: Final = "Bearer"
DPOP: Final = "DPoP"
SCHEMES: Final = {b"bearer": BEARER, b"dpop": DPOP}
TOKEN: Final = re.compile(rb"[A-Za-z0-9\-._~+/]+=*")
TOKEN_BYTES: Final = 16 * 1024
IN_QUERY: Final = b"access_token"


class Shown(NamedTuple):
    """All that a request's head holds of secrets, and the rest of it."""

    authorization: list[bytes]
    proofs: list[bytes]
    rest: Headers


class Credentials(NamedTuple):
    scheme: str
    token: bytes


def part(headers: Iterable[tuple[bytes, bytes]]) -> Shown:
    """Secrets apart from the rest: what is handed on has none."""
    authorization: list[bytes] = []
    proofs: list[bytes] = []
    rest: Headers = []
    for pair in headers:
        name = pair[0]
        if name == b"authorization":
            authorization.append(pair[1])
        elif name == b"dpop":
            proofs.append(pair[1])
        else:
            rest.append(pair)
    return Shown(authorization, proofs, rest)


def read(authorization: list[bytes], query: bytes) -> Credentials:
    """
    Raises:
        Denied: there is no token, or more than one, or not where it belongs.
    """
    if query and has_token(query):
        raise _misplaced(bool(authorization))
    if len(authorization) > 1:
        raise Denied(INVALID_REQUEST, "more than one Authorization header")
    if not authorization:
        raise Denied(None, "authorization required: send an access token")
    word, _, token = authorization[0].strip().partition(b" ")
    scheme = SCHEMES.get(word.lower())
    if scheme is None:
        raise Denied(None, "authorization required: send an access token as Bearer or DPoP")
    token = token.strip()
    if len(token) > TOKEN_BYTES:
        raise bad_token("the token is too long")
    if not TOKEN.fullmatch(token):
        raise Denied(INVALID_REQUEST, "the Authorization header holds no proper token")
    return Credentials(scheme, token)


def has_token(query: bytes) -> bool:
    names = (each.partition(b"=")[0] for each in query.replace(b";", b"&").split(b"&"))
    return any(unquote_to_bytes(name.replace(b"+", b" ")) == IN_QUERY for name in names)


def _misplaced(also_in_header: bool) -> Denied:
    reason = "a token belongs in the Authorization header, never in the query"
    return Denied(INVALID_REQUEST, reason) if also_in_header else bad_token(reason)
