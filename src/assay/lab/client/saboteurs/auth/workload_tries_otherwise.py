"""The workload tries another grant type when it was refused."""

from __future__ import annotations

from contextlib import suppress

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving(
    "the workload tries another grant type when it was refused",
    breaks="wif-grant-fallback",
    scenario="auth/wif-jwt-bearer",
    transports=HTTP_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    for grant in ("jwt_bearer", "client_credentials"):
        # Another context, not the same one changed: the trace holds that.
        expired = client.context["expired_jwt"]
        client.context = {**client.context, "valid_jwt": expired, "oauth": {"grant": grant}}
        with suppress(Failed):
            await client.open()
