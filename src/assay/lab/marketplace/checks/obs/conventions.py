"""Spans by the conventions of OpenTelemetry for MCP, which tools of others read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_attributes import Wanted, complaints
from assay.lab.marketplace.obs_spans import Followed, Span, spanned

ROW: Final = "CONF-OBS-05.conventions"
NETWORK: Final = {"stdio": ("pipe",), "http": ("tcp", "quic", "unix")}
TARGETED: Final = ("tools/call", "prompts/get")


@profile_check("Spans keep to the conventions for MCP", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        wanted = dict(_wanted(one, trace))
        name = _name(one)
        lacking = complaints(wanted, span.attributes) + (
            [] if _is_named(name, span) else [f"name {span.name!r}"]
        )
        told = ", ".join(f"{key}={value}" for key, value in wanted.items())
        yield observe(ROW, not lacking, one, expected=f"name {name!r}, {told}", observed=", ".join(lacking))


def _wanted(one: Followed, trace: Trace) -> Iterator[tuple[str, Wanted]]:
    yield "mcp.method.name", Wanted(one.exchange.method if one.is_known else None)
    yield "jsonrpc.request.id", Wanted(str(one.exchange.request.id))
    yield "mcp.protocol.version", Wanted(trace.header.revision)
    yield "network.transport", Wanted(within=NETWORK.get(trace.transport, ()))


def _name(one: Followed) -> str | None:
    """None where the server need not repeat what it does not know."""
    if not one.is_known or (one.exchange.method in TARGETED and one.exchange.result is None):
        return None
    target = one.target if one.exchange.method in TARGETED else None
    return one.exchange.method if target is None else f"{one.exchange.method} {target}"


def _is_named(name: str | None, span: Span) -> bool:
    return bool(span.name) if name is None else span.name == name
