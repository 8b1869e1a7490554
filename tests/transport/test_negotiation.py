"""Negotiation with a client that requests an unknown revision."""

from __future__ import annotations

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.driving.client import TRANSPORTS, connect
from tests.driving.messages import initialize
from tests.transport.subject import Subject


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("requested", ["1999-12-31", "2999-01-01", "latest", ""])
async def test_unknown_revision_is_answered_with_the_newest(transport: str, requested: str) -> None:
    """LIFE-10, LIFE-11: another version, the server's latest, never an error."""
    async with connect(Subject().server, transport, HANDSHAKE[-1], handshake=False) as client:
        params = initialize(requested)["params"]
        assert (await client.result("initialize", params))["protocolVersion"] == HANDSHAKE[-1].date


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("missing", ["protocolVersion", "capabilities", "clientInfo"])
async def test_incomplete_initialize_is_refused_and_can_be_repeated(transport: str, missing: str) -> None:
    async with connect(Subject().server, transport, HANDSHAKE[-1], handshake=False) as client:
        params = initialize(HANDSHAKE[-1])["params"]
        incomplete = {name: value for name, value in params.items() if name != missing}
        assert (await client.error("initialize", incomplete))["code"] == -32602
        await client.shake_hands()
        assert await client.result("ping") == {}
