"""The response to a caller that lacks a scope: 403 with a challenge (RFC 6750, 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from assay.model.error import INSUFFICIENT_SCOPE
from assay.model.jsonrpc import ErrorReply, Outcome
from assay.protocol.scope import SCOPE_TOKEN

Challenge = Callable[[int, str, Sequence[str]], bytes]
"""Makes the value of WWW-Authenticate from status, error and scopes. An authorization layer puts its own
under `"assay.challenge"` into the ASGI scope, to add its metadata."""

KEY: Final = "assay.challenge"
ERROR: Final = "insufficient_scope"
FORBIDDEN: Final = 403


def bare_challenge(status: int, error: str, scopes: Sequence[str]) -> bytes:
    return f'Bearer error="{error}", scope="{" ".join(scopes)}"'.encode("ascii")


def missing_scopes(outcome: Outcome) -> tuple[str, ...]:
    """The scopes that a refused request lacked; empty if it was not refused for that."""
    if outcome.__class__ is not ErrorReply or outcome.error.code != INSUFFICIENT_SCOPE:
        return ()
    data = outcome.error.data
    scopes = data.get("scope") if isinstance(data, dict) else None
    # A handler may have put any text there, which must not be copied into a header unchecked.
    return tuple(filter(SCOPE_TOKEN.fullmatch, scopes.split())) if isinstance(scopes, str) else ()


def scopes_of_batch(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """The scopes that a batch lacked, if all of it was refused: otherwise the client must not repeat it."""
    missing = [missing_scopes(outcome) for outcome in outcomes]
    return tuple(dict.fromkeys(scope for each in missing for scope in each)) if all(missing) else ()
