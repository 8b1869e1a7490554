"""Sessions: state of a client between its messages."""

from __future__ import annotations

import msgspec
import pytest

from assay import AskError, Limits, RpcError
from assay.model.definition import ClientCapabilities, Implementation
from assay.model.session import SessionRecord
from assay.protocol.declared_client import DeclaredClient
from assay.protocol.lifecycle import Input, State
from assay.protocol.session import STATELESS, Session
from assay.protocol.session_budget import SessionBudget
from assay.revisions.registry import ASSUMED, HANDSHAKE, REVISIONS

CAPABILITIES = ClientCapabilities(roots={"listChanged": True}, sampling={})
CLIENT = Implementation("probe", "1.0")


class Running:
    def __init__(self) -> None:
        self.reasons: list[str | None] = []
        self.interruptions: list[str] = []

    def cancel(self, reason: str | None) -> None:
        self.reasons.append(reason)

    def interrupt(self, reason: str) -> None:
        self.interruptions.append(reason)


class Waiter:
    def __init__(self) -> None:
        self.failure: BaseException | None = None

    def done(self) -> bool:
        return self.failure is not None

    def set_result(self, result: msgspec.Raw, /) -> None:
        raise AssertionError("not reached")

    def set_exception(self, exception: BaseException, /) -> None:
        self.failure = exception


def ready_session(budget: SessionBudget | None = None) -> Session:
    session = Session(lambda data: None, session_id="s1", principal="ada", budget=budget)
    session.receive(Input.INITIALIZE)
    session.agree(HANDSHAKE[-1], DeclaredClient.of(CAPABILITIES, CLIENT))
    session.receive(Input.INITIALIZED)
    return session


def test_new_session_is_fresh_and_unchanged() -> None:
    session = Session(lambda data: None)
    assert (session.state, session.ready, session.changed, session.peer.revision) == (
        State.FRESH,
        False,
        False,
        ASSUMED,
    )


def test_handshake_changes_the_session() -> None:
    session = ready_session()
    assert (session.ready, session.changed) == (True, True)


def test_record_contains_the_durable_state() -> None:
    session = ready_session()
    session.peer.log_level = "error"
    session.subscriptions |= {"b:2", "a:1"}
    assert session.record() == SessionRecord(
        id="s1",
        principal="ada",
        revision=HANDSHAKE[-1].date,
        capabilities=CAPABILITIES,
        client=CLIENT,
        log_level="error",
        subscriptions=["a:1", "b:2"],
        state="ready",
    )


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("state", State)
def test_restored_session_is_recorded_the_same(revision: object, state: State) -> None:
    session = ready_session()
    session.peer.revision = revision  # type: ignore[assignment]
    session.peer.log_level = "debug"
    session.subscriptions.add("a:1")
    session.state = state
    restored = Session.restore(session.record(), lambda data: None)
    assert (restored.record(), restored.changed) == (session.record(), False)


def test_record_survives_encoding() -> None:
    record = ready_session().record()
    assert msgspec.json.decode(msgspec.json.encode(record), type=SessionRecord) == record


def test_restored_session_uses_its_new_post() -> None:
    posted: list[bytes] = []
    Session.restore(ready_session().record(), posted.append).post(b"x")
    assert posted == [b"x"]


def test_close_cancels_running_and_fails_outgoing_requests() -> None:
    session, running, waiter = ready_session(), Running(), Waiter()
    session.in_flight[1] = running
    session.outgoing_requests.ask(waiter)
    session.close()
    assert (session.state, running.reasons, len(session.outgoing_requests)) == (
        State.CLOSED,
        ["the session was closed"],
        0,
    )
    assert isinstance(waiter.failure, AskError)


def test_closing_twice_cancels_once() -> None:
    session, running = ready_session(), Running()
    session.in_flight[1] = running
    session.close()
    session.close()
    assert running.reasons == ["the session was closed"]


def test_close_with_a_reason_answers_running_requests() -> None:
    session, running = ready_session(), Running()
    session.in_flight[1] = running
    session.close("the server is stopping")
    assert (running.reasons, running.interruptions) == ([], ["the server is stopping"])


def test_endings_are_called_once() -> None:
    session, states = Session(lambda message: None), []
    session.endings += (lambda: states.append(session.state),)
    session.close()
    session.close()

    assert states == [State.CLOSED]


def test_request_may_leave_while_the_session_closes() -> None:
    """A cancelled request removes itself from `in_flight`, possibly at once."""
    session = ready_session()

    class Leaving:
        def cancel(self, reason: str | None) -> None:
            del session.in_flight[1]

        def interrupt(self, reason: str) -> None:
            raise AssertionError("not reached")

    session.in_flight |= {1: Leaving(), 2: Running()}
    session.close()
    assert list(session.in_flight) == [2]


def test_peer_without_a_session_declares_nothing() -> None:
    assert {revision: peer.revision for revision, peer in STATELESS.items()} == {r: r for r in REVISIONS}
    assert {peer.capabilities for peer in STATELESS.values()} == {ClientCapabilities()}


def test_all_that_a_session_keeps_counts_until_it_ends() -> None:
    budget = SessionBudget(1000)
    session = ready_session(budget)
    declared = session.kept_bytes
    assert budget.used == declared == DeclaredClient.of(CAPABILITIES, CLIENT).size
    session.subscribe("a:€", Limits())
    session.subscribe("a:€", Limits())
    assert session.reserve(100)
    assert budget.used == session.kept_bytes == declared + 5 + 100
    session.unsubscribe("a:€")
    session.unsubscribe("a:€")
    assert budget.used == declared + 100
    session.close()
    assert session.reserve(50)  # a handler that outlives its session
    assert (budget.used, session.kept_bytes) == (0, 0)


def test_restored_session_counts_the_same() -> None:
    budget = SessionBudget(1000)
    session = ready_session()
    session.subscribe("a:1", Limits())
    session.client_state["key"] = b"value"
    session.reserve(8)
    restored = Session.restore(session.record(), lambda data: None, budget=budget)
    assert budget.used == restored.kept_bytes == session.kept_bytes
    assert restored.subscription_bytes == 3


@pytest.mark.parametrize(
    ("limits", "budget", "code", "problem"),
    [
        (Limits(subscriptions=2), 10_000, -32602, "too many subscriptions: limit 2"),
        (Limits(subscription_bytes=7), 10_000, -32602, "the limit for their URIs is 7 bytes"),
        (Limits(), 70, -31004, "sessions are full; try again later"),
    ],
    ids=["number", "bytes", "bytes of all sessions"],
)
def test_subscriptions_are_bounded(limits: Limits, budget: int, code: int, problem: str) -> None:
    session = ready_session(SessionBudget(budget))
    session.reserve(63 - session.kept_bytes)
    session.subscribe("a:1", limits)
    session.subscribe("a:2", limits)
    with pytest.raises(RpcError, match=problem) as refused:
        session.subscribe("a:3", limits)
    assert refused.value.code == code
    assert session.subscriptions == {"a:1", "a:2"}


def test_session_asks_for_room_before_it_gives_up() -> None:
    budget = SessionBudget(1000)
    other, session = ready_session(budget), ready_session(budget)
    other.reserve(1000 - budget.used)
    session.make_room = lambda session_id, size: other.reserve(-size)
    session.subscribe("a:1", Limits())
    assert budget.used == 1000
