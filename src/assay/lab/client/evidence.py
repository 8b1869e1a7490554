"""What several checks of clients look for in a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.scripted_server.client_run import TIMED_OUT
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Call, Exchange

AFTER: Final = "after"
"""The tool that is called last in many scenarios: whoever gets there has come through what was before."""
ENDLESS: Final = "endless"
"""The tool that never answers, and whose call is given up."""
FIRST: Final = "initialize"
HANDSHAKING: Final = (FIRST, "notifications/initialized")
"""What belongs to a handshake: a client of both kinds may try one, and it describes nothing."""


def turned_away(exchange: Exchange) -> bool:
    """Whether HTTP turned it away: then the same request may come again, say with a token."""
    return exchange.head is not None and exchange.head.status >= 300


class Handshake(Struct, frozen=True):
    """An `initialize`, and what the client said after it on the same connection until the next."""

    exchange: Exchange
    later: tuple[Message, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def offered(self) -> Any:
        return self.exchange.params.get("protocolVersion")

    @property
    def agreed(self) -> str | None:
        """The version in the answer; none where there is none."""
        found = (self.exchange.result or {}).get("protocolVersion")
        return found if isinstance(found, str) else None

    @property
    def answered(self) -> int:
        """The number of the frame with the answer; of the request where there is none."""
        answer = self.exchange.answer
        return self.exchange.request.frame.n if answer is None else answer.frame.n


def handshakes(trace: Trace) -> Iterator[Handshake]:
    opened = list(trace.inquiries(FIRST))
    for exchange in opened:
        begin, connection = exchange.request.frame.n, exchange.request.frame.connection
        others = (one.request.frame for one in opened)
        following = (one.n for one in others if one.n > begin and one.connection == connection)
        end = min(following, default=len(trace.frames))
        said = (one for one in trace.received if one.frame.connection == connection)
        yield Handshake(exchange, tuple(one for one in said if begin < one.frame.n < end))


def describes_itself(message: Message) -> bool:
    """Whether it names its version: a client of both kinds may try that before a handshake."""
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def endpoint_calls(trace: Trace, *methods: str) -> Iterator[Call]:
    """The HTTP requests to the endpoint, of these methods or all but what browsers ask in advance."""
    own = (one for one in trace.calls if "at" not in one.request.info and one.sent.method != "OPTIONS")
    return (one for one in own if not methods or one.sent.method in methods)


def visits(trace: Trace, room: str) -> list[Call]:
    """The HTTP requests to another address of the scenario's."""
    return [one for one in trace.calls if one.request.info.get("at") == room]


def calls_of(trace: Trace, tool: str) -> list[Exchange]:
    return [one for one in trace.inquiries("tools/call") if one.params.get("name") == tool]


def is_over(trace: Trace) -> bool:
    """Whether the client has ended, or its time had: it will do no more."""
    return any(one.kind is Kind.EXIT for one in trace.frames) or any(trace.marks(TIMED_OUT))


def went_on(row: str, trace: Trace, tool: str, expected: str, then: str = AFTER) -> Iterator[Observation]:
    """Whether a client that was answered when it called a tool came to the call that follows."""
    answered = [one for one in calls_of(trace, tool) if one.answer is not None]
    if not answered:
        return
    later = [one for one in calls_of(trace, then) if one.request.frame.n > answered[0].request.frame.n]
    if later or is_over(trace):
        yield observe(
            row, bool(later), answered[-1], *later[:1], expected=expected, observed="the client did not go on"
        )


def given_up(row: str, trace: Trace) -> Iterator[Observation]:
    """Whether a client that goes on without an answer has said that it wants none."""
    later = calls_of(trace, AFTER)
    for exchange in calls_of(trace, ENDLESS) if later else ():
        if exchange.answer is None:
            said = [one for one in trace.received if cancels(one, exchange)]
            expected = f"notifications/cancelled for id {exchange.request.id!r}"
            observed = "other requests, and no word about this one"
            yield observe(row, bool(said), exchange, *said, later[0], expected=expected, observed=observed)


def cancels(message: Message, exchange: Exchange) -> bool:
    """Whether it says that an answer is not wanted any more."""
    named = same_id(message.params.get("requestId"), exchange.request.id)
    return named and message.method == "notifications/cancelled"
