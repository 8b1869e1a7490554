"""Why a request is not let in. Reasons are sentences of our own: nothing of a token is repeated."""

from __future__ import annotations

from typing import Final

INVALID_REQUEST: Final = "invalid_request"
INVALID_TOKEN: Final = "invalid_token"
INVALID_PROOF: Final = "invalid_dpop_proof"
NEED_NONCE: Final = "use_dpop_nonce"
INSUFFICIENT_SCOPE: Final = "insufficient_scope"

STATUSES: Final = {None: 401, INVALID_REQUEST: 400, INSUFFICIENT_SCOPE: 403}
"""Of an error in a challenge (RFC 6750, 3.1; none where nothing was shown at all); 401 for all others."""


class Denied(Exception):
    """The request is answered with a challenge."""

    def __init__(self, error: str | None, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason

    @property
    def status(self) -> int:
        return STATUSES.get(self.error, 401)


class Unavailable(Exception):
    """Nobody can say whether the token is good, because the authorization server cannot be asked."""


def bad_token(reason: str) -> Denied:
    return Denied(INVALID_TOKEN, reason)


def bad_proof(reason: str) -> Denied:
    return Denied(INVALID_PROOF, reason)
