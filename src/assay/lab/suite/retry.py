"""Retries with input: which retry answers which input requests, and forged state."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Trace
from assay.lab.harness.driver.peer import Reply
from assay.lab.harness.driver.question import ELICIT, MAY_ASK_DURING, ROOTS, SAMPLE
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange

from .self_description import as_object

NEEDED: Final = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
"""The client capability that each input request needs."""
_ABOUT_RETRY: Final = frozenset({"_meta", "inputResponses", "requestState"})


class Retry(Struct, frozen=True):
    exchange: Exchange
    asked: Exchange
    """The earlier exchange whose input requests it answers."""
    issued: tuple[tuple[str, str], ...]
    """Each state issued before, with the identity of its request."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.asked.frames, *self.exchange.frames)

    @property
    def questions(self) -> dict[str, Any]:
        return as_object((self.asked.result or {}).get("inputRequests"))

    @property
    def responses(self) -> Any:
        return self.exchange.params.get("inputResponses")

    @property
    def state(self) -> Any:
        return self.exchange.params.get("requestState")

    @property
    def is_forged(self) -> bool:
        """Whether its state was never issued."""
        return isinstance(self.state, str) and self.state not in {state for state, _ in self.issued}

    @property
    def is_misplaced(self) -> bool:
        """Whether its state was issued only to other requests."""
        owners = {owner for state, owner in self.issued if state == self.state}
        return bool(owners) and identity(self.exchange) not in owners


def wants_input(exchange: Exchange | Reply) -> bool:
    return (exchange.result or {}).get("resultType") == "input_required"


def succeeded(exchange: Exchange) -> bool:
    """Whether the result is neither an error, nor an input request, nor a tool's failure."""
    result = exchange.result
    return result is not None and not wants_input(exchange) and result.get("isError") is not True


def identity(exchange: Exchange) -> str:
    """Equal for two requests that differ only in the fields of a retry."""
    params = {key: value for key, value in exchange.params.items() if key not in _ABOUT_RETRY}
    return json.dumps([exchange.method, params], sort_keys=True)


def retries(trace: Trace) -> Iterator[Retry]:
    """Every request with answers, in order, if the same request was asked for input before."""
    asked: dict[str, list[Exchange]] = {}
    issued: list[tuple[str, str]] = []
    for exchange in trace.exchanges(*MAY_ASK_DURING):
        name = identity(exchange)
        if "inputResponses" in exchange.params and name in asked:
            yield Retry(exchange, _answered(exchange, asked[name]), tuple(issued))
        if wants_input(exchange):
            asked.setdefault(name, []).append(exchange)
            state = (exchange.result or {}).get("requestState")
            if isinstance(state, str):
                issued.append((state, name))


def _answered(retry: Exchange, candidates: list[Exchange]) -> Exchange:
    """The exchange that issued the retry's state, else the last one with the same keys."""
    keys = as_object(retry.params.get("inputResponses")).keys()
    state = retry.params.get("requestState")
    latest = [(exchange, exchange.result or {}) for exchange in reversed(candidates)]
    by_state = [
        exchange for exchange, result in latest if state is not None and result.get("requestState") == state
    ]
    by_keys = [
        exchange for exchange, result in latest if as_object(result.get("inputRequests")).keys() == keys
    ]
    return (*by_state, *by_keys, candidates[-1])[0]


def forgeries(state: str) -> list[str]:
    """The state with one character changed and, if it is readable JSON, with a member added."""
    middle = len(state) // 2
    other = "A" if state[middle : middle + 1] != "A" else "B"
    return [f"{state[:middle]}{other}{state[middle + 1 :]}", *_rewritten(state)]


def _rewritten(state: str) -> Iterator[str]:
    head, dot, rest = state.partition(".")
    if (plain := _with_more(state.encode())) is not None:
        yield plain.decode()
    elif (inside := _with_more(_decoded(head))) is not None:
        yield f"{urlsafe_b64encode(inside).decode()}{dot}{rest}"


def _with_more(text: bytes) -> bytes | None:
    """The JSON object with one more member; None if it is not a JSON object."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return json.dumps({**value, "forged": True}).encode() if isinstance(value, dict) else None


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
