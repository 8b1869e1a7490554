"""The lifecycle of a session: its states, inputs and legal steps, for any transport.

A pair that is absent from STEPS is refused and does not change the state. CLOSED is final.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from assay.model.error import INVALID_PARAMS, INVALID_REQUEST, RpcError
from assay.revisions.served import EVERY, Served


class State(Enum):
    FRESH = "fresh"
    INITIALIZING = "initializing"
    READY = "ready"
    CLOSED = "closed"


class Input(Enum):
    INITIALIZE = "initialize"
    INITIALIZED = "initialized"
    PING = "ping"
    REQUEST = "request"
    NOTIFICATION = "notification"
    CLOSE = "close"


STEPS: Final = MappingProxyType(
    {
        (State.FRESH, Input.INITIALIZE): State.INITIALIZING,
        (State.FRESH, Input.PING): State.FRESH,
        (State.FRESH, Input.NOTIFICATION): State.FRESH,
        (State.FRESH, Input.CLOSE): State.CLOSED,
        (State.INITIALIZING, Input.INITIALIZED): State.READY,
        (State.INITIALIZING, Input.PING): State.INITIALIZING,
        # A client may pipeline its first request behind `initialized`, and HTTP may reorder the two.
        (State.INITIALIZING, Input.REQUEST): State.INITIALIZING,
        (State.INITIALIZING, Input.NOTIFICATION): State.INITIALIZING,
        (State.INITIALIZING, Input.CLOSE): State.CLOSED,
        (State.READY, Input.INITIALIZED): State.READY,
        (State.READY, Input.PING): State.READY,
        (State.READY, Input.REQUEST): State.READY,
        (State.READY, Input.NOTIFICATION): State.READY,
        (State.READY, Input.CLOSE): State.CLOSED,
    }
)

STRICT_STEPS: Final = MappingProxyType(
    {pair: state for pair, state in STEPS.items() if pair != (State.INITIALIZING, Input.REQUEST)}
)
"""For servers that refuse requests until `notifications/initialized` has arrived."""

Steps = Mapping[tuple[State, Input], State]

REQUESTS: Final = MappingProxyType({"initialize": Input.INITIALIZE, "ping": Input.PING})
NOTIFICATIONS: Final = MappingProxyType({"notifications/initialized": Input.INITIALIZED})


def input_of(method: str, *, is_request: bool) -> Input:
    """Classify a message. Its method is not enough: an `initialize` without an id opens no session."""
    if is_request:
        return REQUESTS.get(method, Input.REQUEST)
    return NOTIFICATIONS.get(method, Input.NOTIFICATION)


def step(state: State, received: Input, steps: Steps = STEPS, served: Served = EVERY) -> State:
    """Return the state after this input.

    Raises:
        RpcError: the input is not allowed in this state.
    """
    following = steps.get((state, received))
    if following is None:
        raise _refusal(state, received, served)
    return following


def _refusal(state: State, received: Input, served: Served) -> RpcError:
    if state is State.CLOSED:
        return RpcError(INVALID_REQUEST, "the session is closed")
    if received is Input.INITIALIZE:
        return RpcError(INVALID_REQUEST, "the session is already initialized")
    if state is State.INITIALIZING:
        return RpcError(INVALID_REQUEST, "not initialized: send notifications/initialized first")
    text = (
        "not initialized: send an initialize request first, or describe each request with "
        "io.modelcontextprotocol/protocolVersion and /clientCapabilities in its _meta"
    )
    return RpcError(INVALID_PARAMS, text, {"supported": list(served.dates)})
