"""The lifecycle table: every pair of state and input is a step, or is refused without a change."""

from __future__ import annotations

import itertools

import pytest

from assay import RpcError
from assay.model.error import INVALID_PARAMS, INVALID_REQUEST
from assay.protocol.lifecycle import STEPS, STRICT_STEPS, Input, State, input_of, step
from assay.protocol.session import Session
from assay.revisions.registry import DATES

F, N, R, C = State.FRESH, State.INITIALIZING, State.READY, State.CLOSED
NOT_YET, AGAIN, OVER = INVALID_PARAMS, INVALID_REQUEST, INVALID_REQUEST
TABLE: dict[Input, dict[State, State | int]] = {
    Input.INITIALIZE: {F: N, N: AGAIN, R: AGAIN, C: OVER},
    Input.INITIALIZED: {F: NOT_YET, N: R, R: R, C: OVER},
    Input.PING: {F: F, N: N, R: R, C: OVER},
    Input.REQUEST: {F: NOT_YET, N: N, R: R, C: OVER},
    Input.NOTIFICATION: {F: F, N: N, R: R, C: OVER},
    Input.CLOSE: {F: C, N: C, R: C, C: OVER},
}
PAIRS = list(itertools.product(State, Input))


def session_in(state: State) -> Session:
    session = Session(lambda data: None)
    session.state = state
    return session


@pytest.mark.parametrize(("state", "received"), PAIRS)
def test_every_pair_is_a_step_or_a_refusal_that_leaves_the_state(state: State, received: Input) -> None:
    outcome = TABLE[received][state]
    session = session_in(state)
    if isinstance(outcome, State):
        session.receive(received)
        assert (session.state, session.changed) == (outcome, outcome is not state)
    else:
        with pytest.raises(RpcError) as caught:
            session.receive(received)
        assert (caught.value.code, session.state, session.changed) == (outcome, state, False)


def test_table_has_a_row_for_every_legal_pair_and_no_other() -> None:
    legal = {(state, received) for state, received in PAIRS if isinstance(TABLE[received][state], State)}
    assert set(STEPS) == legal


@pytest.mark.parametrize(("state", "received"), PAIRS)
def test_strict_table_differs_in_requests_before_initialized_only(state: State, received: Input) -> None:
    session = Session(lambda data: None, steps=STRICT_STEPS)
    session.state = state
    if (state, received) == (N, Input.REQUEST):
        with pytest.raises(RpcError) as caught:
            session.receive(received)
        assert (caught.value.code, session.state) == (INVALID_REQUEST, N)
    else:
        assert STRICT_STEPS.get((state, received)) is STEPS.get((state, received))


def test_request_before_the_handshake_is_refused_with_the_supported_versions() -> None:
    with pytest.raises(RpcError) as caught:
        step(State.FRESH, Input.REQUEST)
    assert caught.value.data == {"supported": list(DATES)}


@pytest.mark.parametrize(
    ("method", "is_request", "received"),
    [
        ("initialize", True, Input.INITIALIZE),
        ("initialize", False, Input.NOTIFICATION),
        ("ping", True, Input.PING),
        ("ping", False, Input.NOTIFICATION),
        ("notifications/initialized", False, Input.INITIALIZED),
        ("notifications/initialized", True, Input.REQUEST),
        ("tools/list", True, Input.REQUEST),
        ("notifications/cancelled", False, Input.NOTIFICATION),
    ],
)
def test_method_is_an_input_by_its_name_and_kind(method: str, is_request: bool, received: Input) -> None:
    assert input_of(method, is_request=is_request) is received
