"""The checker of the kill test finds each fault in a history that has it, and none in one that has not."""

from collections.abc import Callable
from typing import Any

import pytest

from bench.nemesis.checker import RULES, check, errors_by_text, summary
from bench.nemesis.history import Entry, in_order, of_call, read, write

WORKER, OTHER = 100, 200


def history() -> list[Entry]:
    """A stream whose worker was killed and that was resumed, a call without incident, and a question."""
    lines: list[tuple[float, str, str | None, dict[str, Any]]] = [
        (1.0, "invoke", "a", {"by": "one", "tool": "stream"}),
        (1.1, "ran", "a", {"pid": WORKER}),
        (1.2, "sent", "a", {"pid": WORKER, "number": 1}),
        (1.25, "event", "a", {"by": "one", "number": 1}),
        (1.3, "sent", "a", {"pid": WORKER, "number": 2}),
        (1.4, "killed", None, {"by": "nemesis", "pid": WORKER}),
        (3.0, "event", "a", {"by": "one", "number": 2}),
        (4.0, "error", "a", {"by": "one", "value": "the process has ended", "from_server": True}),
        (5.0, "invoke", "b", {"by": "one", "tool": "add"}),
        (5.1, "ran", "b", {"pid": OTHER}),
        (5.2, "ok", "b", {"by": "one", "value": "b", "from_server": True}),
        (6.0, "invoke", "c", {"by": "two", "tool": "draw"}),
        (6.1, "drew", "c", {"pid": OTHER, "value": "7"}),
        (6.2, "question", "c", {"by": "two", "value": "7"}),
        (6.3, "ok", "c", {"by": "two", "value": "7", "from_server": True}),
        (7.0, "marked", None, {"by": "one", "value": "x", "expected": "x"}),
    ]
    return [
        {"t": t, "kind": kind, **({"call": call} if call else {}), **more} for t, kind, call, more in lines
    ]


def without(kind: str, call: str, number: int | None = None) -> Callable[[], list[Entry]]:
    def doctored() -> list[Entry]:
        return [
            entry
            for entry in history()
            if not (
                entry["kind"] == kind
                and entry.get("call") == call
                and (number is None or entry["number"] == number)
            )
        ]

    return doctored


def with_entry(**entry: Any) -> Callable[[], list[Entry]]:
    return lambda: [*history(), entry]


def with_change(kind: str, call: str | None, **change: Any) -> Callable[[], list[Entry]]:
    def doctored() -> list[Entry]:
        return [
            {**entry, **change} if entry["kind"] == kind and entry.get("call") == call else entry
            for entry in history()
        ]

    return doctored


DOCTORED = [
    ("answered", without("ok", "b")),
    ("answered", without("error", "a")),
    ("no silence", with_change("error", "a", value="Timeout: no answer", from_server=False)),
    ("answered once", with_entry(t=5.3, kind="ok", call="b", by="one", value="b", from_server=True)),
    ("answered once", with_entry(t=4.5, kind="ok", call="a", by="one", value="a", from_server=True)),
    ("own answer", with_change("ok", "b", value="a")),
    ("run once", with_entry(t=2.0, kind="ran", call="a", pid=OTHER)),
    ("in time", with_change("error", "a", t=7.5)),
    ("no event twice", with_entry(t=3.1, kind="event", call="a", by="one", number=2)),
    ("events in order", without("event", "a", 1)),
    ("events in order", with_entry(t=3.1, kind="event", call="a", by="one", number=4)),
    ("no event lost", without("event", "a", 2)),
    ("no event lost", with_entry(t=1.35, kind="sent", call="a", pid=WORKER, number=3)),
    ("drawn once", with_entry(t=6.25, kind="drew", call="c", pid=WORKER, value="8")),
    ("drawn once", with_entry(t=6.25, kind="question", call="c", by="two", value="8")),
    ("drawn once", with_change("ok", "c", value="8")),
    ("drawn once", without("question", "c")),
    ("session kept", with_change("marked", None, value="")),
]


def test_history_without_a_fault_breaks_no_rule() -> None:
    assert check(history()) == []


@pytest.mark.parametrize(("rule", "doctored"), DOCTORED)
def test_doctored_history_breaks_its_rule(rule: str, doctored: Callable[[], list[Entry]]) -> None:
    assert rule in {violation.rule for violation in check(doctored())}


def test_each_rule_has_a_doctored_history() -> None:
    assert {rule for rule, _ in DOCTORED} == {*RULES, "session kept"}


def test_idempotent_call_may_run_again() -> None:
    entries = with_change("invoke", "b", tool="read")()
    assert check([*entries, {"t": 5.15, "kind": "ran", "call": "b", "pid": WORKER}]) == []


def test_events_that_a_client_gave_up_do_not_count_as_lost() -> None:
    entries = [entry for entry in without("event", "a", 2)() if entry["kind"] != "error"]
    gave_up = {"t": 2.0, "kind": "error", "call": "a", "by": "one", "value": "gone", "from_server": False}
    assert check([*entries, gave_up]) == []


def test_time_without_any_worker_does_not_count_but_all_other_does() -> None:
    late = with_change("error", "a", t=17.0)()
    down = [{"t": 4.0, "kind": "down", "by": "nemesis"}, {"t": 14.0, "kind": "up", "by": "nemesis"}]
    assert {violation.rule for violation in check(late)} == {"in time"}
    assert check([*late, *down]) == []
    assert {violation.rule for violation in check([*with_change("error", "a", t=30.0)(), *down])} == {
        "in time"
    }


def test_worker_on_which_a_call_was_resumed_may_be_killed_as_well_but_only_once() -> None:
    kills = [
        {"t": t, "kind": "killed", "by": "nemesis", "pid": 300 + number}
        for number, t in enumerate((3.0, 9.1))
    ]
    resumed_twice = with_change("error", "a", t=8.5)()
    assert {violation.rule for violation in check(resumed_twice)} == {"in time"}
    assert check([*resumed_twice, kills[0]]) == []
    late = with_change("error", "a", t=12.0)()
    assert {violation.rule for violation in check([*late, *kills])} == {"in time"}


def test_time_counts_from_the_reconnection_of_a_client_that_shows_it() -> None:
    late = with_change("error", "a", t=12.0)()
    reconnect = {"kind": "reconnect", "call": "a", "by": "one"}
    assert check([*late, {**reconnect, "t": 8.0}]) == []
    assert {violation.rule for violation in check([*late, {**reconnect, "t": 6.0}])} == {"in time"}
    silent = with_change("error", "a", t=30.0)()
    assert {violation.rule for violation in check([*silent, {**reconnect, "t": 29.0}])} == {"in time"}


def test_events_that_the_official_client_asks_for_again_are_not_a_fault_of_the_server() -> None:
    own = [{**entry, "by": "official-1"} if entry.get("by") == "one" else entry for entry in history()]
    again = [{"t": 3.1, "kind": "event", "call": "a", "by": "official-1", "number": 2}]
    assert {violation.rule for violation in check([*own, *again])} == {"no event twice"}
    assert check([*own, *again, {"t": 3.05, "kind": "killed", "by": "nemesis", "pid": OTHER}]) == []


def test_order_of_the_lines_does_not_matter() -> None:
    assert check(history()[::-1]) == []


def test_summary_counts_what_was_proved() -> None:
    numbers = summary(history())
    assert numbers["kills"] == numbers["resumed streams"] == numbers["calls whose worker was killed"] == 1
    assert errors_by_text(history()) == [("one: the process has ended", 1)]
    assert numbers["slowest end after kill or reconnect, s"] == pytest.approx(2.6)


def test_history_of_a_call_has_the_kills_in_its_time(tmp_path: Any) -> None:
    write(tmp_path / "history.jsonl", history()[::-1])
    entries = read(tmp_path / "history.jsonl")
    assert entries == in_order(history())
    assert [entry["kind"] for entry in of_call(entries, "a")].count("killed") == 1
    assert [entry["kind"] for entry in of_call(entries, "b")].count("killed") == 0
    assert of_call(entries, "unknown") == [] == read(tmp_path / "missing.jsonl")
