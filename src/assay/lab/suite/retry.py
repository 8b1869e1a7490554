"""Requests that are sent again with input: which retry belongs to which question, and forged state."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Trace
from assay.lab.harness.driver.peer import Reply
from assay.lab.harness.driver.question import ASKED_DURING, ELICIT, ROOTS, SAMPLE
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange

from .self_description import as_object

NEEDED: Final = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
"""Which capability of a client a question needs."""
_ABOUT_RETRY: Final = frozenset({"_meta", "inputResponses", "requestState"})


class Retry(Struct, frozen=True):
    exchange: Exchange
    asked: Exchange
    """The request alike whose questions it answers."""
    issued: tuple[tuple[str, str], ...]
    """States that were given out before, each with the request that it was given to."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.asked.frames, *self.exchange.frames)

    @property
    def questions(self) -> dict[str, Any]:
        return as_object((self.asked.result or {}).get("inputRequests"))

    @property
    def given(self) -> Any:
        return self.exchange.params.get("inputResponses")

    @property
    def state(self) -> Any:
        return self.exchange.params.get("requestState")

    @property
    def is_forged(self) -> bool:
        """Its state was never given out to anybody."""
        return isinstance(self.state, str) and self.state not in {state for state, _ in self.issued}

    @property
    def is_misplaced(self) -> bool:
        """Its state was given out, and only to other requests."""
        owners = {owner for state, owner in self.issued if state == self.state}
        return bool(owners) and identity(self.exchange) not in owners

    @property
    def is_complete_answer(self) -> bool:
        """Every question, and nothing else, is answered with an object."""
        given = self.given
        fits = isinstance(given, dict) and given.keys() == self.questions.keys()
        return fits and all(isinstance(one, dict) for one in given.values())


def wants_input(exchange: Exchange | Reply) -> bool:
    return (exchange.result or {}).get("resultType") == "input_required"


def succeeded(exchange: Exchange) -> bool:
    """It was done: neither an error, nor another question, nor a tool's failure."""
    result = exchange.result
    return result is not None and not wants_input(exchange) and result.get("isError") is not True


def identity(exchange: Exchange) -> str:
    """What makes two requests the same but for their answers."""
    kept = {key: value for key, value in exchange.params.items() if key not in _ABOUT_RETRY}
    return json.dumps([exchange.method, kept], sort_keys=True)


def retries(trace: Trace) -> Iterator[Retry]:
    """Every request with answers, in order, if one alike was asked something before."""
    asked: dict[str, list[Exchange]] = {}
    issued: list[tuple[str, str]] = []
    for exchange in trace.exchanges(*ASKED_DURING):
        name = identity(exchange)
        if "inputResponses" in exchange.params and name in asked:
            yield Retry(exchange, _answered(exchange, asked[name]), tuple(issued))
        if wants_input(exchange):
            asked.setdefault(name, []).append(exchange)
            state = (exchange.result or {}).get("requestState")
            if isinstance(state, str):
                issued.append((state, name))


def _answered(retry: Exchange, asked: list[Exchange]) -> Exchange:
    """What a retry answers: what came with its state, else the last that had the questions it knows."""
    given = as_object(retry.params.get("inputResponses"))
    state = retry.params.get("requestState")
    results = [(one, one.result or {}) for one in reversed(asked)]
    by_state = [one for one, result in results if state is not None and result.get("requestState") == state]
    alike = [one for one, result in results if as_object(result.get("inputRequests")).keys() == given.keys()]
    return (*by_state, *alike, asked[-1])[0]


def forgeries(state: str) -> list[str]:
    """The state with one character changed; and, where it can be read, with something put into it."""
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
    """A JSON object with a member more; none where it is no JSON object."""
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
