"""A caller that lacks a scope, as HTTP tells it: 403, and what it takes (RFC 6750, 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from assay.model.error import INSUFFICIENT_SCOPE
from assay.model.jsonrpc import ErrorReply, Outcome
from assay.protocol.scope import SCOPE_TOKEN

Challenge = Callable[[int, str, Sequence[str]], bytes]
"""Makes the header's value of status, error and scopes. Who guards an application puts one that knows more
than ours under `"assay.challenge"` into the ASGI scope."""

KEY: Final = "assay.challenge"
ERROR: Final = "insufficient_scope"
FORBIDDEN: Final = 403


def bare_challenge(status: int, error: str, scopes: Sequence[str]) -> bytes:
    return f'Bearer error="{error}", scope="{" ".join(scopes)}"'.encode("ascii")


def missing_scopes(outcome: Outcome) -> tuple[str, ...]:
    """The scopes for want of which a request was refused; none if it was not."""
    if outcome.__class__ is not ErrorReply or outcome.error.code != INSUFFICIENT_SCOPE:
        return ()
    data = outcome.error.data
    words = data.get("scope") if isinstance(data, dict) else None
    # What a handler has put there may be anything, and a header must not be.
    return tuple(filter(SCOPE_TOKEN.fullmatch, words.split())) if isinstance(words, str) else ()


def scopes_of_batch(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """The same for a batch, if nothing of it was served: else it must not be sent again."""
    missing = [missing_scopes(outcome) for outcome in outcomes]
    return tuple(dict.fromkeys(scope for each in missing for scope in each)) if all(missing) else ()
