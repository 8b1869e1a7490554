"""Nothing below `resources/` changes a resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-CAP-03.resources.read-only"
WRITING: Final = tuple(f"resources/{verb}" for verb in ("write", "update", "create", "delete"))
MADE_UP: Final = "resources/no-such-verb-of-the-lab"
"""No server has it: what is refused in the same way is not there either, whatever the code."""
UNKNOWN: Final = -32601


@profile_check("Resources are there to be read", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    absent = [_refusal(one) for one in trace.exchanges(MADE_UP) if one.code is not None]
    for exchange in trace.exchanges(*WRITING):
        if exchange.answer is not None:
            yield observe(
                ROW,
                exchange.code == UNKNOWN or _refusal(exchange) in absent,
                exchange,
                expected=f"error {UNKNOWN}: no {exchange.method}; changes are for tools to make",
                observed=exchange,
            )


def _refusal(exchange: Exchange) -> tuple[Any, str]:
    """Code and message, whichever method the message names."""
    message = "" if exchange.answer is None else f"{exchange.answer.error.get('message')}"
    return exchange.code, message.replace(exchange.method, "")
