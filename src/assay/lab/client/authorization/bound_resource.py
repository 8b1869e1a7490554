"""A resource that takes tokens which are bound to a key, and nothing else."""

from __future__ import annotations

import secrets
import time
from typing import Final

from assay.authority.settings import Lifetimes
from assay.lab.harness.scripted_server.answer import Json
from assay.lab.harness.scripted_server.brief import Brief
from assay.lab.harness.scripted_server.stage import ClientStage

from .authorizing import CODE, TWO
from .bound_token import NONCE, SCHEME, WANTS_NONCE, WINDOW, Unproved, proved
from .protected import Protection, Refusal, Visitor, protect

BRIEF: Final = Brief(steps=TWO, oauth={**CODE, "dpop": True})
SETTINGS: Final[Json] = {
    "lifetimes": Lifetimes(proof=WINDOW),
    "metadata": {"dpop_signing_alg_values_supported": ["ES256"]},
}


async def protect_bound(stage: ClientStage, *, nonce: bool) -> None:
    """With a nonce, authority and resource each want one of their own in every proof."""
    settings = {**SETTINGS, "dpop_nonce": nonce}
    protected = await protect(stage, Protection(settings=settings, scheme="DPoP"))
    wanted = secrets.token_urlsafe(16) if nonce else None
    seen: set[str] = set()

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.claims is None or visitor.scheme != SCHEME:
            return protected.unknown()
        asked = visitor.asked
        try:
            claims = proved(asked.head.all("dpop"), visitor.token, asked.method, stage.url, time.time())
        except Unproved:
            return protected.challenge(401, "invalid_dpop_proof")
        if wanted is not None and claims.get("nonce") != wanted:
            refusal = protected.challenge(401, WANTS_NONCE)
            return Refusal(refusal.status, refusal.challenge, refusal.scheme, ((NONCE, wanted),))
        if claims["jti"] in seen:
            return protected.challenge(401, "invalid_dpop_proof")
        seen.add(claims["jti"])
        return None

    protected.guard = guard
