"""Why a request is refused. Reasons are fixed sentences: they never repeat any part of a token."""

from __future__ import annotations

from typing import Final

INVALID_REQUEST: Final = "invalid_request"
INVALID_TOKEN: Final = "invalid_token"
INVALID_PROOF: Final = "invalid_dpop_proof"
NEED_NONCE: Final = "use_dpop_nonce"
INSUFFICIENT_SCOPE: Final = "insufficient_scope"

STATUSES: Final = {None: 401, INVALID_REQUEST: 400, INSUFFICIENT_SCOPE: 403}
"""HTTP status by error code (RFC 6750, 3.1). `None`: the request has no token. Other codes: 401."""


class AuthorizationError(Exception):
    """The request is not authorized; the answer is a challenge."""

    def __init__(self, error: str | None, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason

    @property
    def status(self) -> int:
        return STATUSES.get(self.error, 401)


class Unavailable(Exception):
    """The token cannot be verified, because the authorization server or the store cannot be reached."""


def bad_token(reason: str) -> AuthorizationError:
    return AuthorizationError(INVALID_TOKEN, reason)


def bad_proof(reason: str) -> AuthorizationError:
    return AuthorizationError(INVALID_PROOF, reason)
