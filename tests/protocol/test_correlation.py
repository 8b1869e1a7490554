"""An answer settles its own request, once, and no other."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from msgspec import UNSET, Raw

from assay import AskError
from assay.model.jsonrpc import Envelope
from assay.protocol.correlation import PREFIX, Correlation


class Waiter:
    """Records its outcomes."""

    def __init__(self) -> None:
        self.outcomes: list[bytes | str] = []
        self.gave_up = False

    def done(self) -> bool:
        return self.gave_up or bool(self.outcomes)

    def set_result(self, result: Raw, /) -> None:
        self.outcomes.append(bytes(result))

    def set_exception(self, exception: BaseException, /) -> None:
        assert isinstance(exception, AskError)
        self.outcomes.append(str(exception))


def result(request_id: Any, value: bytes = b"{}") -> Envelope:
    return Envelope("2.0", id=request_id, result=Raw(value))


def error(request_id: Any, body: bytes) -> Envelope:
    return Envelope("2.0", id=request_id, error=Raw(body))


def test_result_settles_its_own_request_only() -> None:
    correlation, first, second = Correlation(), Waiter(), Waiter()
    correlation.ask(first)
    request_id = correlation.ask(second)
    assert correlation.settle(result(request_id, b"[1]")) is True
    assert (first.outcomes, second.outcomes, len(correlation)) == ([], [b"[1]"], 1)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"code":-1,"message":"no"}', "the client answered with error -1: no"),
        (b"{}", "the client answered with error 0: "),
        (b'{"code":"x"}', "the client answered with a malformed error"),
        (b"null", "the client answered with a malformed error"),
    ],
)
def test_error_fails_its_request(body: bytes, text: str) -> None:
    correlation, waiter = Correlation(), Waiter()
    assert correlation.settle(error(correlation.ask(waiter), body)) is True
    assert waiter.outcomes == [text]


def test_late_duplicate_is_ignored() -> None:
    correlation, waiter = Correlation(), Waiter()
    request_id = correlation.ask(waiter)
    assert [correlation.settle(result(request_id, value)) for value in (b"1", b"2")] == [True, True]
    assert waiter.outcomes == [b"1"]


def test_answer_to_a_forgotten_request_is_ignored() -> None:
    correlation, waiter = Correlation(), Waiter()
    request_id = correlation.ask(waiter)
    correlation.forget(request_id)
    assert (correlation.settle(result(request_id)), waiter.outcomes, len(correlation)) == (True, [], 0)


@pytest.mark.parametrize(
    "request_id",
    [
        UNSET,
        1,
        "1",
        "",
        PREFIX,
        f"{PREFIX}0",
        f"{PREFIX}2",
        f"{PREFIX}01",
        f"{PREFIX}-1",
        f"{PREFIX} 1",
        f"{PREFIX}\u0661",
        f"{PREFIX}\u00b2",
        f"{PREFIX}{'1' * 5000}",
    ],
)
def test_answer_to_an_unknown_id_is_reported(request_id: Any) -> None:
    correlation, waiter = Correlation(), Waiter()
    correlation.ask(waiter)
    assert (correlation.settle(result(request_id)), waiter.outcomes, len(correlation)) == (False, [], 1)


def test_close_fails_pending_requests() -> None:
    correlation, waiting, gone = Correlation(), Waiter(), Waiter()
    correlation.ask(waiting)
    correlation.ask(gone)
    gone.gave_up = True
    correlation.close()
    assert (waiting.outcomes, gone.outcomes, len(correlation)) == (["the client is gone"], [], 0)


def test_no_request_is_accepted_after_close() -> None:
    correlation = Correlation()
    correlation.close()
    with pytest.raises(AskError):
        correlation.ask(Waiter())


class Conversation(RuleBasedStateMachine):
    """Requests, answers, duplicates, forgetting and closing in any order."""

    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.correlation = Correlation()
        self.waiters: dict[str, Waiter] = {}
        self.expected: dict[str, list[bytes | str]] = {}
        self.forgotten: set[str] = set()
        self.closed = False

    @rule(target=ids)
    def ask(self) -> str:
        waiter = Waiter()
        if self.closed:
            with pytest.raises(AskError):
                self.correlation.ask(waiter)
            return f"{PREFIX}{len(self.waiters) + 1}"
        request_id = self.correlation.ask(waiter)
        assert request_id not in self.waiters, "an id was used again"
        self.waiters[request_id], self.expected[request_id] = waiter, []
        return request_id

    @rule(request_id=ids, value=st.integers())
    def answer(self, request_id: str, value: int) -> None:
        known = request_id in self.waiters
        assert self.correlation.settle(result(request_id, msgspec.json.encode(value))) is known
        if known and request_id not in self.forgotten and not self.expected[request_id]:
            self.expected[request_id].append(msgspec.json.encode(value))

    @rule(request_id=ids)
    def forget(self, request_id: str) -> None:
        self.correlation.forget(request_id)
        self.forgotten.add(request_id)

    @rule()
    def close(self) -> None:
        self.correlation.close()
        self.closed = True
        for request_id, outcomes in self.expected.items():
            if not outcomes and request_id not in self.forgotten:
                outcomes.append("the client is gone")

    @invariant()
    def every_waiter_has_its_outcome_at_most_once(self) -> None:
        outcomes = {request_id: waiter.outcomes for request_id, waiter in self.waiters.items()}
        assert outcomes == self.expected
        assert all(len(each) <= 1 for each in outcomes.values())

    @invariant()
    def pending_requests_are_neither_settled_nor_forgotten(self) -> None:
        open_ids = {key for key, outcomes in self.expected.items() if not outcomes} - self.forgotten
        assert len(self.correlation) == (0 if self.closed else len(open_ids))


TestConversation = Conversation.TestCase
TestConversation.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
