"""The resource has another authorization server after the first request that it has served."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import Protection, Refusal, Visitor, protect
from assay.lab.client.declaring import official_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "auth/authorization-server-migration",
    "The resource moves to another authorization server",
    brief=LIST_AND_CALL,
    exercises=(*BY_CODE, "auth.credentials-of-servers"),
    window=where("AU-48"),
)
async def drive(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(scope="mcp:basic", opens=True))
    first, second = protected.servers[0], (await protected.add_authority("second")).issuer

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.opens:
            return None
        if visitor.claims is None or visitor.claims["iss"] not in protected.servers:
            return protected.unknown()
        if visitor.claims["iss"] == first:
            protected.servers = [second]
        return None

    protected.guard = guard
