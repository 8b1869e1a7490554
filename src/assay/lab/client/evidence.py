"""Evidence that several checks of clients read from a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.scripted_server.client_run import TIMED_OUT
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Call, Exchange

AFTER: Final = "after"
"""The tool that many scenarios call last: a call of it shows that the client continued."""
ENDLESS: Final = "endless"
"""The tool that never answers, so that the client times out."""
INITIALIZE: Final = "initialize"
HANDSHAKE_METHODS: Final = (INITIALIZE, "notifications/initialized")
"""A client that supports both kinds of revision may try a handshake, which carries no version in `_meta`."""


def rejected(exchange: Exchange) -> bool:
    """Whether HTTP rejected the request: the client may then send it again, for example with a token."""
    return exchange.head is not None and exchange.head.status >= 300


class Handshake(Struct, frozen=True):
    """An `initialize` request, and the client's later messages on the connection until the next one."""

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
        """The version in the server's answer, if any."""
        version = (self.exchange.result or {}).get("protocolVersion")
        return version if isinstance(version, str) else None

    @property
    def answered(self) -> int:
        """The number of the frame with the answer, or of the request if there is none."""
        answer = self.exchange.answer
        return self.exchange.request.frame.n if answer is None else answer.frame.n


def handshakes(trace: Trace) -> Iterator[Handshake]:
    exchanges = list(trace.subject_exchanges(INITIALIZE))
    frames = [exchange.request.frame for exchange in exchanges]
    for exchange, begin in zip(exchanges, frames, strict=True):
        following = (
            frame.n for frame in frames if frame.n > begin.n and frame.connection == begin.connection
        )
        end = min(following, default=len(trace.frames))
        own = (message for message in trace.received if message.frame.connection == begin.connection)
        yield Handshake(exchange, tuple(message for message in own if begin.n < message.frame.n < end))


def describes_itself(message: Message) -> bool:
    """Whether `_meta` names a version. A client of both kinds of revision may try that before a handshake."""
    return VERSION_KEY in message.meta


def endpoint_calls(trace: Trace, *methods: str) -> Iterator[Call]:
    """The HTTP requests to the endpoint with these methods; by default, all but CORS preflights."""
    own = (call for call in trace.calls if "at" not in call.request.info and call.sent.method != "OPTIONS")
    return (call for call in own if not methods or call.sent.method in methods)


def calls_at(trace: Trace, server: str) -> list[Call]:
    """The HTTP requests to another server of the scenario."""
    return [call for call in trace.calls if call.request.info.get("at") == server]


def calls_of(trace: Trace, tool: str) -> list[Exchange]:
    return [
        exchange for exchange in trace.subject_exchanges("tools/call") if exchange.params.get("name") == tool
    ]


def has_ended(trace: Trace) -> bool:
    """Whether the client exited or ran out of time, so that it does nothing more."""
    return any(frame.kind is Kind.EXIT for frame in trace.frames) or any(trace.marks(TIMED_OUT))


def observe_continued(
    requirement: str, trace: Trace, tool: str, expected: str, then: str = AFTER
) -> Iterator[Observation]:
    """Observe whether a client went on to the next tool after it got the answer of this one."""
    answered = [call for call in calls_of(trace, tool) if call.answer is not None]
    if not answered:
        return
    later = [call for call in calls_of(trace, then) if call.request.frame.n > answered[0].request.frame.n]
    if later or has_ended(trace):
        evidence = (answered[-1], *later[:1])
        observed = "the client did not continue"
        yield observe(requirement, bool(later), *evidence, expected=expected, observed=observed)


def observe_cancelled(requirement: str, trace: Trace) -> Iterator[Observation]:
    """Observe whether a client that continued without an answer cancelled the request."""
    later = calls_of(trace, AFTER)
    for exchange in calls_of(trace, ENDLESS) if later else ():
        if exchange.answer is None:
            cancelled = [message for message in trace.received if cancels(message, exchange)]
            yield observe(
                requirement,
                bool(cancelled),
                exchange,
                *cancelled,
                later[0],
                expected=f"notifications/cancelled for id {exchange.request.id!r}",
                observed="other requests, and no cancellation of this one",
            )


def cancels(message: Message, exchange: Exchange) -> bool:
    """Whether the message cancels this request."""
    same = same_id(message.params.get("requestId"), exchange.request.id)
    return same and message.method == "notifications/cancelled"


def fail_unobserved(
    trace: Trace, observations: Iterable[Observation], expected: Mapping[str, str]
) -> Iterator[Observation]:
    """The observations, then a failure for each requirement in `expected` that none of them is about.

    The official suite counts an omission as a failure. A client that never sent a message only leaves its
    scenario incomplete.
    """
    observed = set()
    for observation in observations:
        observed.add(observation.requirement)
        yield observation
    first = next(iter(trace.received), None)
    if first is None:
        return
    for requirement, text in expected.items():
        if requirement not in observed:
            yield observe(requirement, False, first, expected=text, observed="it never happened")
