"""There is no user: the client acts for itself, with a secret that it was given."""

from __future__ import annotations

from typing import Final

from assay.authority.record import Client, digest
from assay.lab.client.authorization.authorizing import FOUND
from assay.lab.client.authorization.machine import BRIEF, GRANT, NAME, settings
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage

SECRET: Final = "conformance-test-secret"
METHOD: Final = "client_secret_basic"
KNOWN: Final = Client(id=NAME, secret=digest(SECRET), methods=(METHOD,), grants=(GRANT,))


@official_scenario(
    "auth/client-credentials-basic",
    "A client that acts for itself, with a secret",
    brief=BRIEF,
    window=FOUND,
    aliases=("auth/client-credentials",),
)
async def drive(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=settings(KNOWN, METHOD)))
    stage.context |= {"client_id": NAME, "client_secret": SECRET}
