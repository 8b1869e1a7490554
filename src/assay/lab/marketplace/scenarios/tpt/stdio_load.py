"""One long line, and a great many short ones at once."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import encode
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.sabotage.saboteur import newest_of_each_kind
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import STDIO_ONLY

LONG = "a" * (1024 * 1024)
MANY = 10_000
NOTHING = "no/such/method"
"""Refused with little to say: ten thousand answers fit into a trace."""


@scenario(
    "A long line, and ten thousand at once",
    exercises=("tpt.stdio-load",),
    transports=STDIO_ONLY,
    window=newest_of_each_kind,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(NOTHING, {"padding": LONG})
    params = declared(stage.revision, {}, {})
    asked = [peer.expect(NOTHING, f"one of many {number}") for number in range(MANY)]
    lines = ({"jsonrpc": "2.0", "id": one.id, "method": NOTHING, "params": params} for one in asked)
    await peer.stdio.write(b"".join(encode(line) + b"\n" for line in lines))
    for pending in asked:
        await peer.answer(pending)
