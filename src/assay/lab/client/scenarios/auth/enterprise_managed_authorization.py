"""The user is signed in elsewhere: an identity provider vouches for them at the authorization server."""

from __future__ import annotations

from typing import Final

from assay.authority.record import JWT_BEARER, Client, digest
from assay.authority.settings import Trusted
from assay.lab.client.authorization.authorizing import FOUND, TWO
from assay.lab.client.authorization.protected import Protection, protect
from assay.lab.client.authorization.vouching import CLIENT_ELSEWHERE, open_provider
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.brief import Brief
from assay.lab.harness.scripted_server.stage import ClientStage

SECRET: Final = "conformance-test-xaa-secret"
METHOD: Final = "client_secret_basic"
ASSERTION: Final = "oauth-id-jag+jwt"
KNOWN: Final = Client(id=CLIENT_ELSEWHERE, secret=digest(SECRET), methods=(METHOD,), grants=(JWT_BEARER,))


@official_scenario(
    "auth/enterprise-managed-authorization",
    "A user who is signed in elsewhere",
    brief=Brief(steps=TWO, oauth={"grant": "token_exchange"}),
    window=FOUND,
)
async def drive(stage: ClientStage) -> None:
    provider = await open_provider(stage)
    settings = {
        "grants": (JWT_BEARER,),
        "methods": (METHOD,),
        "resources": (stage.url,),
        "trusted": (Trusted(issuer=provider.issuer, jwks=provider.jwks(), type=ASSERTION),),
        "clients": (KNOWN,),
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    await protect(stage, Protection(settings=settings))
    stage.context |= {"client_id": CLIENT_ELSEWHERE, "client_secret": SECRET}
