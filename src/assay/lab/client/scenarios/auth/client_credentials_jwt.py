"""There is no user: the client acts for itself, and signs with a key that it was given."""

from __future__ import annotations

from typing import Final

from assay.authority.keys import new_key, public_jwk
from assay.authority.record import Client
from assay.authority.settings import Lifetimes
from assay.lab.client.authorization.authorizing import FOUND
from assay.lab.client.authorization.machine import BRIEF, GRANT, NAME, settings
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage

ALGORITHM: Final = "ES256"
METHOD: Final = "private_key_jwt"
LONG: Final = Lifetimes(assertion=86_400.0)
"""How long a client makes its assertion good for is its own affair."""


@official_scenario(
    "auth/client-credentials-jwt",
    "A client that acts for itself, with a key",
    brief=BRIEF,
    window=FOUND,
    aliases=("auth/client-credentials",),
)
async def drive(stage: ClientStage) -> None:
    key = new_key(ALGORITHM)
    jwks = {"keys": [public_jwk(ALGORITHM, key.private)]}
    known = Client(id=NAME, methods=(METHOD,), grants=(GRANT,), jwks=jwks)
    await protect(stage, Protection(settings={**settings(known, METHOD), "lifetimes": LONG}))
    stage.context |= {
        "client_id": NAME,
        "private_key_pem": key.private_pem(),
        "signing_algorithm": ALGORITHM,
    }
