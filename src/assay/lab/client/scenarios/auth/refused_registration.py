"""Whoever registers is told that its redirect addresses do not suit."""

from __future__ import annotations

from typing import Final

import msgspec

from assay.lab.client.authorization.authorizing import IN_VAIN
from assay.lab.client.authorization.credentials import REGISTRY
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import client_scenario, where
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

REFUSAL: Final = {
    "error": "invalid_redirect_uri",
    "error_description": "these redirect addresses do not suit the application_type",
}


@client_scenario(
    "A registration that is refused",
    brief=IN_VAIN,
    exercises=("auth.refused-registration",),
    transports=HTTP_ONLY,
    window=where("AU-46"),
)
async def drive(stage: ClientStage) -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(400, msgspec.json.encode(REFUSAL), [("Content-Type", JSON)])

    address = f"{await stage.room(REGISTRY, serve)}/register"
    await protect(stage, Protection(settings={"metadata": {"registration_endpoint": address}}))
