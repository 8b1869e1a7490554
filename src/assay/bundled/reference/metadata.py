"""The custom method `metadata/get`: everything about the server in one result."""

from __future__ import annotations

from typing import Any, Final

from assay import Context, Server

from .identity import PREFIX

CAPABILITY: Final = "metadata"


async def get_metadata(ctx: Context) -> dict[str, Any]:
    server = ctx.server
    return {
        "name": server.info.name,
        "version": server.info.version,
        "capabilities": ctx.capabilities,
        "authRequired": server.auth is not None,
        "revisions": server.revisions,
        "transports": server.transports,
    }


def register(server: Server) -> None:
    server.method("metadata/get", capability=CAPABILITY, extension=PREFIX + CAPABILITY)(get_metadata)
