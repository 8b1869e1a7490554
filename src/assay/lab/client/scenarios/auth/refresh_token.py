"""A token ends soon after it was given out; with it came another to refresh it."""

from __future__ import annotations

from typing import Final

from assay.lab.client.authorization.authorizing import BY_CODE, LIST_AND_CALL
from assay.lab.client.authorization.protected import Protection, Refusal, Visitor, protect
from assay.lab.client.declaring import client_scenario, where
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

SETTINGS: Final = {"grants": ("authorization_code", "refresh_token")}


@client_scenario(
    "A token that can be refreshed",
    brief=LIST_AND_CALL,
    exercises=(*BY_CODE, "auth.refresh-token"),
    transports=HTTP_ONLY,
    window=where("AU-76"),
)
async def drive(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(settings=SETTINGS))
    worn: list[str] = []

    def guard(visitor: Visitor) -> Refusal | None:
        """The first token is good until a tool is called."""
        if visitor.claims is None or visitor.token in worn:
            return protected.unknown()
        if visitor.method == "tools/call" and not worn:
            worn.append(visitor.token)
            return protected.unknown()
        return None

    protected.guard = guard
