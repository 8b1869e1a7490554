"""Whatever the client is granted, it is told that it needs more."""

from __future__ import annotations

from itertools import count
from typing import Final

from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, IN_VAIN
from assay.lab.client.authorization.protected import Protection, Refusal, Visitor, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage

SCOPE: Final = "mcp:admin"
PATIENCE: Final = 3
"""Requests with a token that are refused in the same words; who comes again is told that it is over."""


@official_scenario(
    "auth/scope-retry-limit",
    "A scope that is never enough",
    brief=IN_VAIN,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(scope=SCOPE, scopes=(SCOPE,), opens=True))
    refused = count(1)

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.opens:
            return None
        if visitor.claims is None:
            return protected.unknown()
        return protected.insufficient(SCOPE) if next(refused) <= PATIENCE else Refusal(410)

    protected.guard = guard
