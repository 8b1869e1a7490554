"""There is no user: the client is a workload, and whoever runs it vouches for it."""

from __future__ import annotations

from typing import Any, Final

from assay.authority.authority import Authority
from assay.authority.record import JWT_BEARER, Client
from assay.authority.settings import Settings, Trusted
from assay.lab.client.authorizing import FOUND, TWO
from assay.lab.client.declaring import official_scenario
from assay.lab.client.protected import Protection, protect
from assay.lab.harness.hosting.brief import Brief
from assay.lab.harness.hosting.hosting import Hosting

NAME: Final = "conformance-wif-workload"
SUBJECT: Final = "conformance-workload"
PROVIDER: Final = "https://idp.conformance-test.local"
"""Is never asked anything."""
REFUSED: Final = {"wif.trigger-unauthorized": "unauthorized_client", "wif.rejected": "invalid_scope"}


@official_scenario(
    "auth/wif-jwt-bearer",
    "A workload with a token of its own",
    brief=Brief(steps=TWO, oauth={"grant": "jwt_bearer"}),
    window=FOUND,
)
async def drive(stage: Hosting) -> None:
    provider = Authority(Settings(issuer=PROVIDER))
    settings = {
        "grants": (JWT_BEARER,),
        "registration": False,
        "clients": (Client(id=NAME, grants=(JWT_BEARER,)),),
        "trusted": (Trusted(issuer=PROVIDER, jwks=provider.jwks(), client_id=NAME),),
        "refused_scopes": REFUSED,
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    protected = await protect(stage, Protection(settings=settings))
    (issuer,) = protected.servers
    stage.context |= {
        "client_id": NAME,
        "valid_jwt": _made(provider, audience=issuer),
        "wrong_audience_jwt": _made(provider, audience="https://wrong.example"),
        "expired_jwt": _made(provider, audience=issuer, fault="expired-token"),
    }


def _made(provider: Authority, **options: Any) -> str:
    plain = {"client_id": None, "scope": None}
    return provider.mint(SUBJECT, header={"typ": "JWT"}, claims=plain, **options)
