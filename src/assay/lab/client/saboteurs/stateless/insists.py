"""A client that will not be told."""

from __future__ import annotations

from assay.lab.client.checks.stateless.refused_version import MOST
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient


@misbehaving(
    "a version that was refused is tried again and again",
    breaks="VER-02",
    scenario="stateless.refused-version",
)
async def behave(client: ScriptedClient) -> None:
    await client.carrier.open()
    for _ in range(2 * MOST):
        await client.ask("tools/list", {}, timeout=1.0)
