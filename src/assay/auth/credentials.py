"""Access tokens in requests: only the Authorization header is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from .error import INVALID_REQUEST, AuthorizationError, bad_token

Headers = list[tuple[bytes, bytes]]

BEARER: Final = "Bearer"
DPOP: Final = "DPoP"
SCHEMES: Final = {b"bearer": BEARER, b"dpop": DPOP}
TOKEN: Final = re.compile(rb"[A-Za-z0-9\-._~+/]+=*")
TOKEN_BYTES: Final = 16 * 1024
IN_QUERY: Final = b"access_token"


class SplitHeaders(NamedTuple):
    """The headers of a request, with the secret ones apart."""

    authorization: list[bytes]
    proofs: list[bytes]
    rest: Headers


class Credentials(NamedTuple):
    scheme: str
    token: bytes


def split_headers(headers: Iterable[tuple[bytes, bytes]]) -> SplitHeaders:
    """Take tokens and proofs out of the headers, so that the application never sees them."""
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
    return SplitHeaders(authorization, proofs, rest)


def read_credentials(authorization: list[bytes], query: bytes) -> Credentials:
    """
    Raises:
        AuthorizationError: The token is missing, malformed, repeated, or in the query.
    """
    if query and has_token(query):
        # MCP forbids tokens in the query: URLs end up in logs and in Referer headers (RFC 6750, 5.3).
        raise _misplaced(bool(authorization))
    if len(authorization) > 1:
        raise AuthorizationError(INVALID_REQUEST, "more than one Authorization header")
    if not authorization:
        raise AuthorizationError(None, "authorization required: send an access token")
    word, _, token = authorization[0].strip().partition(b" ")
    scheme = SCHEMES.get(word.lower())
    if scheme is None:
        raise AuthorizationError(None, "authorization required: send an access token as Bearer or DPoP")
    token = token.strip()
    if len(token) > TOKEN_BYTES:
        raise bad_token("the token is too long")
    if not TOKEN.fullmatch(token):
        raise AuthorizationError(INVALID_REQUEST, "the Authorization header holds no well-formed token")
    return Credentials(scheme, token)


def has_token(query: bytes) -> bool:
    names = (parameter.partition(b"=")[0] for parameter in query.replace(b";", b"&").split(b"&"))
    return any(unquote_to_bytes(name.replace(b"+", b" ")) == IN_QUERY for name in names)


def _misplaced(also_in_header: bool) -> AuthorizationError:
    reason = "send the token in the Authorization header, never in the query"
    return AuthorizationError(INVALID_REQUEST, reason) if also_in_header else bad_token(reason)
