"""Nobody can register: the client was given its credentials."""

from __future__ import annotations

from typing import Final

from assay.authority.record import Client, digest
from assay.lab.client.authorization.authorizing import BY_CODE, FOUND, LIST_AND_CALL
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage

NAME, SECRET = "pre-registered-client", "pre-registered-secret"
METHODS: Final = ("client_secret_basic",)
KNOWN: Final = Client(id=NAME, secret=digest(SECRET), methods=METHODS)
SETTINGS: Final = {"registration": False, "methods": METHODS, "clients": (KNOWN,)}


@official_scenario(
    "auth/pre-registration",
    "Credentials that the client was given",
    brief=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=SETTINGS))
    stage.context |= {"client_id": NAME, "client_secret": SECRET}
