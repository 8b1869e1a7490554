"""A client that is a workload: whoever runs it vouches for it, and the authorization server believes that."""

from __future__ import annotations

from typing import Any, Final

from assay.authority.authority import Authority
from assay.authority.record import JWT_BEARER, Client
from assay.authority.settings import Settings, Trusted
from assay.lab.harness.scripted_server.stage import ClientStage

from .protected import Protection, protect

OAUTH: Final = {"grant": "jwt_bearer"}
NAME: Final = "conformance-wif-workload"
SUBJECT: Final = "conformance-workload"
PROVIDER: Final = "https://idp.conformance-test.local"
"""Is never asked anything."""
UNAUTHORIZED: Final = "wif.trigger-unauthorized"
REFUSED: Final = {UNAUTHORIZED: "unauthorized_client", "wif.rejected": "invalid_scope"}
"""Scopes that no workload is granted, and what it is told."""


async def protect_from_workload(stage: ClientStage, scope: str = "") -> None:
    """The scope is the one that the challenge names."""
    provider = Authority(Settings(issuer=PROVIDER))
    settings = {
        "grants": (JWT_BEARER,),
        "registration": False,
        "clients": (Client(id=NAME, grants=(JWT_BEARER,)),),
        "trusted": (Trusted(issuer=PROVIDER, jwks=provider.jwks(), client_id=NAME),),
        "refused_scopes": REFUSED,
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    protected = await protect(stage, Protection(settings=settings, scope=scope))
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
