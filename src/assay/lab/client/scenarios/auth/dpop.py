"""Tokens are bound to a key of the client."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import FOUND
from assay.lab.client.authorization.bound_resource import BRIEF, protect_bound
from assay.lab.client.declaring import official_scenario
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario("auth/dpop", "Tokens that are bound to a key", brief=BRIEF, window=FOUND)
async def drive(stage: ClientStage) -> None:
    await protect_bound(stage, nonce=False)
