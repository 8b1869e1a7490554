"""Messages that are too much for a reader without care: nested ten thousand deep, a number without end."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.driver.peer import encode
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each, plain_request

MUCH = 10_000
PLACE = "put it here"
HOSTILE = (
    ("deep-nesting", f"arrays {MUCH} deep", b"[" * MUCH + b"]" * MUCH),
    ("deep-nesting", f"objects {MUCH} deep", b'{"a":' * MUCH + b"1" + b"}" * MUCH),
    ("huge-number", f"an integer of {MUCH} digits", b"9" * MUCH),
    ("huge-number", "a number beyond any range", b"1e" + b"9" * MUCH),
)


@scenario(
    "Messages that are too much",
    exercises=("negatives.hostile", "negatives.recovers"),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    await offer_each(stage, _messages(stage))


def _messages(stage: Stage) -> Iterator[BadMessage]:
    mirrored = {"Mcp-Method": stage.plain} if stage.revision.http.mirrored else {}
    for number, (case, what, value) in enumerate(HOSTILE):
        name = f"hostile-{number}"
        message = encode(plain_request(stage, name, value=PLACE)).replace(encode(PLACE), value)
        yield BadMessage(case, what, message, (name,), mirrored)
