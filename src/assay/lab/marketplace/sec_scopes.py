"""Scopes: what a token has, and what the server asks for."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.subject.bearer import claims_of
from assay.lab.harness.trace.challenge import bearer_challenge
from assay.lab.harness.trace.trace import Trace

from .sec_admission import without_token

GRANTED: Final = "granted"
"""The note that says what the weak token has; `scopes` is none where that cannot be read."""


def granted_to(token: str) -> list[str] | None:
    """The scopes of a token; none where it does not say."""
    claims = claims_of(token) or {}
    match claims.get("scope", claims.get("scp")):
        case str(words):
            return words.split()
        case list(words):
            return [str(word) for word in words]
    return None


def missing(trace: Trace) -> list[str]:
    """What the challenge to nobody asks for and the weak token does not have; none where that is unknown."""
    note = next(trace.marks(GRANTED), None)
    granted = None if note is None else note.info.get("scopes")
    if not isinstance(granted, list):
        return []
    found = (bearer_challenge(call.head) for call in without_token(trace))
    asked = {scope for challenge in found if challenge is not None for scope in challenge.scopes}
    return sorted(asked - set(granted))
