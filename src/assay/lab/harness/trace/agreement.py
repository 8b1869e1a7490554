"""The revision that both sides of a trace spoke, whatever the recorder believed when it began."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.message_meta import VERSION_KEY

from .trace import Exchange, Trace


def spoken_revision(trace: Trace) -> str | None:
    """The revision of the last request that was answered with a result."""
    spoken: str | None = None
    for exchange in trace.all_exchanges:
        version = None if exchange.result is None else _agreed_by(exchange, exchange.result)
        spoken = version if isinstance(version, str) else spoken
    return spoken


def _agreed_by(exchange: Exchange, result: dict[str, Any]) -> Any:
    if exchange.method == "initialize":
        return result.get("protocolVersion")
    version = exchange.meta.get(VERSION_KEY)
    if exchange.method == "server/discover" and version not in exchange.items("supportedVersions"):
        return None
    return version
