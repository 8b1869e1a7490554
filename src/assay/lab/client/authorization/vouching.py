"""An identity provider beside the authorization server: it vouches for a user there."""

from __future__ import annotations

from typing import Final

from assay.authority.app import AuthorityApp
from assay.authority.authority import Authority
from assay.authority.record import TOKEN_EXCHANGE, Client
from assay.authority.settings import Settings
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.side_server import serve_asgi
from assay.lab.harness.scripted_server.stage import ClientStage

ROOM: Final = "provider"
USER: Final = "demo-user@example.com"
CLIENT, CLIENT_ELSEWHERE = "conformance-test-idp-client", "conformance-test-xaa-client"
"""The client's ids at the provider and at the authorization server."""


async def open_provider(stage: ClientStage) -> Authority:
    """Is found at its own address, and named in the context; nothing else tells of it."""
    apps: list[AuthorityApp] = []

    async def serve(asked: Asked, reply: HttpReply) -> None:
        await serve_asgi(apps[0], asked, reply)

    known = Client(id=CLIENT, grants=(TOKEN_EXCHANGE,), id_elsewhere=CLIENT_ELSEWHERE)
    settings = Settings(
        issuer=await stage.room(ROOM, serve),
        grants=(TOKEN_EXCHANGE,),
        registration=False,
        documents=False,
        clients=(known,),
        metadata={"grant_types_supported": [TOKEN_EXCHANGE]},
        faults=("metadata-404-oauth",),
    )
    provider = Authority(settings)
    apps.append(AuthorityApp(provider))
    stage.context |= {
        "idp_client_id": CLIENT,
        "idp_id_token": provider.identify(USER, CLIENT),
        "idp_issuer": provider.issuer,
        "idp_token_endpoint": settings.url("/token"),
    }
    return provider
