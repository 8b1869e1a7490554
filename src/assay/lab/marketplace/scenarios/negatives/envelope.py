"""JSON that is nearly a request: another version of JSON-RPC, no method, parameters that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each, plain_request

LEFT_OUT = object()
SPOILED: tuple[tuple[str, str, Any], ...] = (
    ("version", "jsonrpc", LEFT_OUT),
    ("version", "jsonrpc", "1.0"),
    ("version", "jsonrpc", 2.0),
    ("method", "method", LEFT_OUT),
    ("method", "method", 17),
    ("params", "params", "a text"),
    ("params", "params", 42),
)


@scenario(
    "Messages that are nearly requests",
    exercises=("negatives.envelope", "negatives.recovers"),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    await offer_each(stage, _messages(stage))


def _messages(stage: Stage) -> Iterator[BadMessage]:
    for number, (case, key, value) in enumerate(SPOILED):
        name = f"spoiled-{number}"
        message = {**plain_request(stage, name), key: value}
        kept = {field: given for field, given in message.items() if given is not LEFT_OUT}
        what = f"a request without `{key}`" if value is LEFT_OUT else f"a request with {key} {value!r}"
        yield BadMessage(case, what, kept, (name,))
