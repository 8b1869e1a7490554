"""What the profile wants to read of a span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_attributes import Wanted, complaints
from assay.lab.marketplace.obs_spans import Followed, spanned

ROW: Final = "CONF-OBS-05.names"
TRANSPORTS: Final = {"stdio": ("stdio",), "http": ("http", "sse")}
"""What the name of each transport has in it: `http+sse`, `streamable-http`."""
ABOUT: Final = ("tools/call", "resources/read", "prompts/get")


@profile_check("Spans carry what the profile asks for", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        wanted = dict(_wanted(one, trace.transport))
        lacking = complaints(wanted, span.attributes)
        told = ", ".join(f"{name}={value}" for name, value in wanted.items())
        yield observe(ROW, not lacking, one, expected=told, observed=", ".join(lacking))


def _wanted(one: Followed, transport: str) -> Iterator[tuple[str, Wanted]]:
    yield "rpc.method", Wanted(one.exchange.method if one.is_known else None)
    yield "transport.type", Wanted(within=TRANSPORTS.get(transport, ()))
    if one.exchange.method in ABOUT and _is_there(one):
        yield "capability.name", Wanted(one.target)


def _is_there(one: Followed) -> bool:
    """Of what a server does not have, it need not repeat the name."""
    return one.exchange.result is not None
