"""Whether a server still serves requests after something that may have harmed it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import Observation, Stage, Trace, observe
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.broken_off import Gone, NoAnswer
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange

from .unanswered import BUSY, is_refused, unanswered

PLAIN: Final = ("ping", "server/discover")
"""Requests that any server answers with a result."""
NOT_SERVED: Final = "not served"
"""Mark of a conversation that could not be opened."""
EXPECTED: Final = "a result, as before"


async def open_afterwards(stage: Stage) -> Peer:
    """Open another conversation, and record if that fails."""
    try:
        peer = await stage.open()
        await peer.request(stage.plain)
        return peer
    except (Gone, NoAnswer) as reason:
        stage.note(NOT_SERVED, reason=str(reason))
        raise


def later_requests(requirement: str, trace: Trace, begin: Frame, excluded: str = "") -> Iterator[Observation]:
    """Observe the plain requests after a frame, but not those on an excluded connection."""
    for exchange in trace.exchanges(*PLAIN):
        frame = exchange.request.frame
        if frame.n <= begin.n or frame.connection == excluded or _is_excused(exchange):
            continue
        problem = unanswered(exchange, trace)
        if exchange.answers or is_refused(exchange) or problem is not None:
            holds, observed = exchange.result is not None, problem or exchange
            yield observe(requirement, holds, begin, exchange, expected=EXPECTED, observed=observed)
    for mark in trace.marks(NOT_SERVED):
        if mark.n > begin.n:
            observed = f"no conversation could be opened: {mark.info.get('reason')}"
            yield observe(requirement, False, begin, mark, expected=EXPECTED, observed=observed)


def _is_excused(exchange: Exchange) -> bool:
    """A server may be busy, and may end a session at any time."""
    status = 0 if exchange.head is None else exchange.head.status
    return status in BUSY or (status == 404 and exchange.in_session)
