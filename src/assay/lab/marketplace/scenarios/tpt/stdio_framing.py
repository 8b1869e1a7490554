"""Lines as they should be, and one that ends as on Windows."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import encode
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import STDIO_ONLY

ODD = ("two\nlines", "next\u0085line", "line\u2028separator", "naïve ☃")
"""Ids that come back in the answer: a newline must stay escaped, and the rest is UTF-8."""
BY_CRLF = "crlf"


@scenario("Lines on standard streams", exercises=("tpt.stdio-framing",), transports=STDIO_ONLY)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request("no/such/method", {"text": "naïve ☃\n"})
    for text in ODD:
        await peer.request(stage.plain, request_id=text)
    pending = peer.expect(stage.plain, BY_CRLF)
    params = declared(stage.revision, {}, {})
    message = {"jsonrpc": "2.0", "id": BY_CRLF, "method": stage.plain, "params": params}
    await peer.stdio.write(encode(message) + b"\r\n")
    await peer.answer(pending)
