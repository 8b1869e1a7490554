"""Messages are gathered, a line each, until the buffer is sent."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import WEBSOCKET_ONLY

LOGGED = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'


@on_reply("one text holds two messages", breaks="STD-14", transports=WEBSOCKET_ONLY)
def change(reply: Json, context: FaultContext) -> list[object]:
    twice = context.method in ("ping", "server/discover")
    return [LOGGED + b"\n" + msgspec.json.encode(reply), reply] if twice else [reply]
