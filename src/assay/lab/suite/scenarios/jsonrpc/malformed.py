"""What is no JSON, what is no message, and what is nearly a request. A server goes on after each of them."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import Transport

NO_TEXT = b'{"jsonrpc":"2.0","method":"\xff\xfe"}'
MALFORMED: tuple[Any, ...] = (
    b"this is no JSON",
    b'{"jsonrpc":"2.0","method":"no/su',
    "a text",
    42,
    {},
    {"jsonrpc": "2.0", "id": 9001},
    {"jsonrpc": "2.0", "id": 9002, "method": 17},
    {"jsonrpc": "2.0", "id": {"an": "object"}, "method": "no/such/method"},
    {"jsonrpc": "2.0", "id": 9003, "method": "no/such/method", "params": "a text"},
    {"jsonrpc": "2.0", "id": None, "method": "no/such/method"},
    {"jsonrpc": "1.0", "id": 9004, "method": "no/such/method"},
)


@scenario(
    "Messages that are none",
    # Who answers none of them is judged by the answers in between.
    exercises=("jsonrpc.refusal-codes", "jsonrpc.error-shape", "jsonrpc.named-errors", "jsonrpc.reply-id"),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    # On a WebSocket bytes that are no text are a fault below the messages, and end the connection.
    bad_bytes = () if stage.transport is Transport.WEBSOCKET else (NO_TEXT,)
    for message in (*MALFORMED, *bad_bytes):
        async with peer.probe("malformed"):
            await peer.offer(message)
