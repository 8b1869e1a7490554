"""The resource goes to another authorization server, and comes back to the first. The token of each one is
good for one request, and can be refreshed."""

from __future__ import annotations

from typing import Final

from assay.lab.client.authorization.authorizing import BY_CODE, CODE, TWO
from assay.lab.client.authorization.protected import TOOL, Protection, Refusal, Visitor, protect
from assay.lab.client.declaring import client_scenario, where
from assay.lab.harness.scripted_server.brief import Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

SETTINGS: Final = {"grants": ("authorization_code", "refresh_token")}


@client_scenario(
    "The resource moves to another authorization server, and back",
    brief=Brief(steps=(*TWO, call(TOOL)), oauth=CODE),
    exercises=(*BY_CODE, "auth.credentials-of-servers", "auth.refresh-token"),
    transports=HTTP_ONLY,
    window=where("AU-47"),
)
async def drive(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(settings=SETTINGS, opens=True))
    first, second = protected.servers[0], (await protected.add_authority("second")).issuer
    moves = iter((second, first))
    spent: set[str] = set()

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.opens:
            return None
        claims = visitor.claims
        if claims is None or claims["iss"] not in protected.servers or visitor.token in spent:
            return protected.unknown()
        following = next(moves, None)
        if following is not None:
            spent.add(visitor.token)
            protected.servers = [following]
        return None

    protected.guard = guard
