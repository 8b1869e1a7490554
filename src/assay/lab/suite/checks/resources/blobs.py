"""Binary data is in Base64 as RFC 4648 has it: its alphabet, its padding, and nothing between."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe


@check("Binary contents are valid Base64", rows=("RS-14",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        for blob in _blobs(exchange):
            expected, observed = "Base64 with padding and without line breaks", f"{blob[:40]!r}"
            yield observe("RS-14", _is_base64(blob), exchange, expected=expected, observed=observed)


def _blobs(exchange: Exchange) -> list[str]:
    return [item["blob"] for item in exchange.objects("contents") if isinstance(item.get("blob"), str)]


def _is_base64(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
