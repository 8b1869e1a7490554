"""Lines as a pipe may deliver them: several at once, one in pieces, a long one, and odd characters inside."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import encode
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import STDIO_ONLY

LONG = "a" * (96 * 1024)
"""More than the 64 KiB that a pipe, and many a reader, holds at once."""
# A newline that must stay escaped on the way back; and what some languages take for the end of a line.
ODD = ("two\nlines", "next\u0085line", "line\u2028separator", "form\x0cfeed", "carriage\rreturn")


@scenario(
    "Lines in one piece, in many, and long",
    exercises=("framing.whole-lines", "framing.pure-stdout", "framing.no-requests", "jsonrpc.named-errors"),
    transports=STDIO_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request("no/such/method", {"padding": LONG})
    for text in ODD:
        await peer.request(stage.plain, request_id=text)
    names = ("line 1", "line 2", "line 3")
    pending = [peer.expect(stage.plain, name) for name in names]
    params = declared(stage.revision, {}, {})
    message = {"jsonrpc": "2.0", "method": stage.plain, "params": params}
    first, second, third = (encode({**message, "id": name}) + b"\n" for name in names)
    await peer.stdio.write(first + second)
    await peer.stdio.write(third[:9])
    await peer.stdio.write(third[9:])
    for one in pending:
        await peer.answer(one)
