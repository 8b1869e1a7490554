"""Text that is no JSON, a message that breaks off, and one that says the same key twice."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.driver.peer import encode
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each, plain_request

BROKEN = (b"this is no JSON", b'{"jsonrpc": "2.0", "id": 1, "method": ping}', b"{'jsonrpc': '2.0'}")


@scenario(
    "Text that is no message",
    exercises=("negatives.text", "negatives.duplicate-keys", "negatives.recovers"),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    await offer_each(stage, _messages(stage))


def _messages(stage: Stage) -> Iterator[BadMessage]:
    for text in BROKEN:
        yield BadMessage("malformed", f"{text.decode()!r}", text)
    whole = encode(plain_request(stage, "cut"))
    for length in (1, len(whole) // 2, len(whole) - 1):
        yield BadMessage("truncated", f"the first {length} of {len(whole)} bytes", whole[:length])
    # Where headers repeat the method, they repeat the last: readers keep that one as a rule.
    mirrored = {"Mcp-Method": stage.plain} if stage.revision.http.mirrored else {}
    twice = encode(plain_request(stage, "twice"))
    method = b'{"method":"no/such/method",' + twice[1:]
    yield BadMessage("duplicate-keys", "two methods in one request", method, ("twice",), mirrored)
    again = b'{"id":"once",' + encode(plain_request(stage, "again"))[1:]
    yield BadMessage("duplicate-keys", "two ids in one request", again, ("once", "again"), mirrored)
