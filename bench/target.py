"""Performance targets, and verdicts on a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .client_load import HTTPX2, MANY
from .profile_load import ALL, PLAIN, PLAIN_READ, TAGGED_READ
from .request import PER_REQUEST_WIRE
from .result import Result
from .subject import (
    ASSAY,
    ASSAY_DEF,
    ASSAY_ON_UVICORN,
    BARE,
    FASTMCP,
    MINIMCP,
    MINIMCP_DEF,
    OFFICIAL,
    TIMES,
    TYPESCRIPT,
)

Measure = Callable[[Result], float | None]


class Bound(Enum):
    AT_LEAST = "≥"
    AT_MOST = "≤"


@dataclass(frozen=True)
class Target:
    """One row of the table of targets."""

    measure: str
    bound: Bound
    needed: float
    unit: str
    actual: Measure

    @property
    def requirement(self) -> str:
        return f"{self.bound.value} {self.format(self.needed)}"

    def format(self, value: float) -> str:
        if self.unit == "%":
            return f"{value * 100:.3g} %"
        return f"{value:.3g} {self.unit}"


@dataclass(frozen=True)
class Verdict:
    target: Target
    actual: float | None

    @property
    def passed(self) -> bool:
        if self.actual is None:
            return False
        if self.target.bound is Bound.AT_LEAST:
            return self.actual >= self.target.needed
        return self.actual <= self.target.needed

    @property
    def measured(self) -> str:
        return "void" if self.actual is None else self.target.format(self.actual)

    @property
    def word(self) -> str:
        """Pass or miss, and by which margin."""
        if self.actual is None:
            return "void: no figure"
        distance = abs(self.actual / self.target.needed - 1) * 100
        amount = f"{distance:.0f} %" if distance >= 1 else "less than 1 %"
        return f"pass, {amount} to spare" if self.passed else f"MISS by {amount}"


def faster(transport: str, name: str, other: str) -> Measure:
    return lambda result: result.rate_ratio(transport, name, other)


def cheaper(transport: str, name: str, other: str) -> Measure:
    """Compares CPU time of the server, which other work on the machine disturbs less than wall-clock time."""
    return lambda result: result.cpu_ratio(transport, name, other)


def calls_faster(kind: str, name: str, other: str) -> Measure:
    """Compares clients."""
    return lambda result: result.client_ratio(kind, name, other)


def highest_rss(transport: str) -> Measure:
    def measure(result: Result) -> float | None:
        values = [result.rss(transport, name) for name in (ASSAY, ASSAY_DEF)]
        known = [value for value in values if value is not None]
        return max(known) if len(known) == len(values) else None

    return measure


NEW_WIRE: Final = PER_REQUEST_WIRE.name
LEAST, MOST = Bound.AT_LEAST, Bound.AT_MOST
CLIENT_TARGETS: Final = (
    Target("client, HTTP calls / official SDK", LEAST, 3.0, TIMES, calls_faster("http", ASSAY, OFFICIAL)),
    Target("client, HTTP calls / fastmcp", LEAST, 3.0, TIMES, calls_faster("http", ASSAY, FASTMCP)),
    Target("client, stdio calls / official SDK", LEAST, 4.0, TIMES, calls_faster("stdio", ASSAY, OFFICIAL)),
    Target("client, stdio calls / fastmcp", LEAST, 4.0, TIMES, calls_faster("stdio", ASSAY, FASTMCP)),
    Target(
        "client, calls in memory / official SDK", LEAST, 5.0, TIMES, calls_faster("memory", ASSAY, OFFICIAL)
    ),
    Target("client, calls in memory / fastmcp", LEAST, 5.0, TIMES, calls_faster("memory", ASSAY, FASTMCP)),
    Target("import of the client / asyncio and msgspec", MOST, 1.3, TIMES, lambda r: r.import_ratio()),
    Target(
        "assay tools on stdio, more than the server's start", MOST, 150.0, "ms", lambda r: r.listing_cost()
    ),
)
TARGETS: Final = (
    Target("HTTP calls, async def / bare ASGI app", LEAST, 0.6, TIMES, faster("http", ASSAY, BARE)),
    Target("HTTP calls, async def / minimcp", LEAST, 3.0, TIMES, faster("http", ASSAY, MINIMCP)),
    Target("HTTP calls, async def / official SDK", LEAST, 8.0, TIMES, faster("http", ASSAY, OFFICIAL)),
    Target("HTTP calls, def / minimcp", LEAST, 1.5, TIMES, faster("http", ASSAY_DEF, MINIMCP_DEF)),
    Target("HTTP calls, 2026-07-28 / handshake", LEAST, 0.85, TIMES, lambda r: r.wire_ratio(ASSAY)),
    Target("HTTP calls, 2026-07-28 / official SDK", LEAST, 6.0, TIMES, faster(NEW_WIRE, ASSAY, OFFICIAL)),
    Target("WebSocket calls / HTTP calls, one connection", LEAST, 1.0, TIMES, lambda r: r.websocket_ratio(1)),
    Target(
        "WebSocket calls / HTTP calls, 32 connections", LEAST, 1.0, TIMES, lambda r: r.websocket_ratio(32)
    ),
    Target("signing and opening 1 KB of request state", MOST, 50.0, "µs", lambda r: r.state_cost()),
    Target("authenticating a known token", MOST, 60.0, "µs", lambda r: r.token_cost("known")),
    Target(
        "HTTP calls, whole profile and telemetry / plain", LEAST, 0.3, TIMES, faster("profile", ALL, PLAIN)
    ),
    Target("stdio calls, async def / minimcp", LEAST, 3.0, TIMES, faster("stdio", ASSAY, MINIMCP)),
    Target("stdio calls, def / minimcp", LEAST, 1.3, TIMES, faster("stdio", ASSAY_DEF, MINIMCP_DEF)),
    Target("spawn to initialize / minimcp", MOST, 0.3, TIMES, lambda r: r.spawn_ratio(ASSAY, MINIMCP)),
    Target("RSS serving stdio", MOST, 35.0, "MB", highest_rss("stdio")),
    Target("RSS serving HTTP", MOST, 45.0, "MB", highest_rss("http")),
    Target("spread of cost, 1 to 10,000 tools", MOST, 0.10, "%", lambda r: r.tools_spread()),
    *CLIENT_TARGETS,
)
# Reported without a target.
ALSO: Final[tuple[tuple[str, Measure], ...]] = (
    ("HTTP calls, effects of the profile / plain", faster("profile", "effects", PLAIN)),
    ("HTTP calls, effects and ledger / plain", faster("profile", "ledger", PLAIN)),
    ("HTTP calls, telemetry / plain", faster("profile", "telemetry", PLAIN)),
    ("HTTP reads, tagged / plain", faster("profile", TAGGED_READ, PLAIN_READ)),
    ("HTTP calls, async def on uvicorn / bare ASGI app", faster("http", ASSAY_ON_UVICORN, BARE)),
    ("HTTP calls, async def on uvicorn / minimcp", faster("http", ASSAY_ON_UVICORN, MINIMCP)),
    ("HTTP calls, async def on uvicorn / official SDK", faster("http", ASSAY_ON_UVICORN, OFFICIAL)),
    (
        "HTTP calls, 2026-07-28, async def on uvicorn / official SDK",
        faster(NEW_WIRE, ASSAY_ON_UVICORN, OFFICIAL),
    ),
    ("HTTP calls, def / bare ASGI app", faster("http", ASSAY_DEF, BARE)),
    ("HTTP calls, async def / fastmcp", faster("http", ASSAY, FASTMCP)),
    ("HTTP calls, async def / TypeScript SDK v2", faster("http", ASSAY, TYPESCRIPT)),
    ("CPU per HTTP call, bare ASGI app / async def", cheaper("http", ASSAY, BARE)),
    ("CPU per HTTP call, minimcp / async def", cheaper("http", ASSAY, MINIMCP)),
    ("CPU per HTTP call, official SDK / async def", cheaper("http", ASSAY, OFFICIAL)),
    ("CPU per HTTP call, 2026-07-28, official SDK / async def", cheaper(NEW_WIRE, ASSAY, OFFICIAL)),
    ("HTTP calls, official SDK, 2026-07-28 / handshake", lambda r: r.wire_ratio(OFFICIAL)),
    ("stdio calls, async def / minimcp, not on one core", faster("stdio_free", ASSAY, MINIMCP)),
    ("stdio calls, def / minimcp, not on one core", faster("stdio_free", ASSAY_DEF, MINIMCP_DEF)),
    ("stdio calls, async def / bare loop", faster("stdio", ASSAY, BARE)),
    ("stdio calls, async def / official SDK", faster("stdio", ASSAY, OFFICIAL)),
    ("stdio calls, async def / fastmcp", faster("stdio", ASSAY, FASTMCP)),
    (f"client, HTTP calls, {MANY} at once / official SDK", calls_faster(f"http {MANY}", ASSAY, OFFICIAL)),
    (f"client, HTTP calls, {MANY} at once / fastmcp", calls_faster(f"http {MANY}", ASSAY, FASTMCP)),
    ("client, HTTP calls / httpx2 alone", calls_faster("http", ASSAY, HTTPX2)),
)


def judge(result: Result, targets: Sequence[Target] = TARGETS) -> list[Verdict]:
    return [Verdict(target, target.actual(result)) for target in targets]
