"""Judges a history. Each rule is a function of the calls, and yields what breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .history import Entry, in_order

IDEMPOTENT: Final = frozenset({"read"})
PATIENCE: Final = 5.0
"""Seconds after its client has reconnected in which a call must have ended."""
RECONNECT: Final = 1.0
"""Seconds after the death of a worker until its clients reconnect: the pause that both SDKs make."""
SILENCE: Final = 25.0
"""Seconds that a call may take at most, however often its client reconnects to workers that are killed."""
NOTICED: Final = 0.5
"""Seconds between the probes that notice it when no worker serves, with a margin."""


class Violation(NamedTuple):
    rule: str
    call: str
    text: str


@dataclass
class Call:
    """What is known of one call."""

    id: str
    tool: str = ""
    by: str = ""
    begun: float = 0.0
    ends: list[Entry] = field(default_factory=list)
    runs: list[Entry] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    questions: list[Entry] = field(default_factory=list)
    draws: list[Entry] = field(default_factory=list)
    killed: float | None = None
    """When its worker was killed while it ran."""
    killed_again: float | None = None
    """When, in the time that is left to it then, the last worker was killed: perhaps the one on which the
    client had resumed, so that it reconnected once more."""
    reconnected: float | None = None
    """When its client last asked for the rest of the stream, if the client shows it."""
    down: float = 0.0
    """Seconds between that, or the reconnection of its client, and its end in which no worker served."""

    @property
    def end(self) -> Entry | None:
        return self.ends[0] if self.ends else None

    @property
    def was_resumed(self) -> bool:
        """Whether its stream was followed to its end on another worker: the end came from the server."""
        return self.killed is not None and self.end is not None and bool(self.end.get("from_server"))


def calls_of(entries: Iterable[Entry]) -> dict[str, Call]:
    calls: dict[str, Call] = {}
    kills: dict[int, float] = {}
    entries = in_order(entries)
    for entry in entries:
        if entry["kind"] == "killed":
            kills[entry["pid"]] = entry["t"]
        if "call" not in entry:
            continue
        call = calls.setdefault(entry["call"], Call(entry["call"]))
        _add(call, entry)
    for call in calls.values():
        end = call.end["t"] if call.end else float("inf")
        deaths = [kills[run["pid"]] for run in call.runs if run["pid"] in kills]
        call.killed = next((death for death in deaths if call.begun <= death <= end), None)
        if call.killed is not None:
            latest = call.killed + PATIENCE + RECONNECT
            call.killed_again = max(death for death in kills.values() if call.killed <= death <= latest)
            call.down = down_time(entries, max(call.killed, call.reconnected or 0.0), end)
    return calls


def down_time(entries: Iterable[Entry], begin: float, end: float) -> float:
    """Seconds of an interval in which the server could not be reached. Some time to notice is included."""
    total, since = 0.0, None
    for entry in entries:
        if entry["kind"] == "down":
            since = entry["t"] - NOTICED
        elif entry["kind"] == "up" and since is not None:
            total += max(0.0, min(end, entry["t"] + NOTICED) - max(begin, since))
            since = None
    return total if since is None else total + max(0.0, end - max(begin, since))


def _add(call: Call, entry: Entry) -> None:
    match entry["kind"]:
        case "invoke":
            call.tool, call.by, call.begun = entry["tool"], entry["by"], entry["t"]
        case "ok" | "error":
            call.ends.append(entry)
        case "ran":
            call.runs.append(entry)
        case "event":
            call.events.append(entry["number"])
        case "sent":
            call.sent.append(entry["number"])
        case "question":
            call.questions.append(entry)
        case "reconnect":
            call.reconnected = entry["t"]
        case "drew":
            call.draws.append(entry)


def unanswered(call: Call) -> Iterator[str]:
    if call.tool and not call.ends:
        yield "no answer and no error"


def no_silence(call: Call) -> Iterator[str]:
    if call.end and call.end["kind"] == "error" and str(call.end["value"]).startswith("Timeout"):
        yield "its client has given up waiting"


def answered_once(call: Call) -> Iterator[str]:
    if len(call.ends) > 1:
        yield f"{len(call.ends)} answers"


def own_answer(call: Call) -> Iterator[str]:
    if call.tool != "draw" and call.end and call.end["kind"] == "ok" and call.end["value"] != call.id:
        yield f"the answer of another call: {call.end['value']}"


def run_once(call: Call) -> Iterator[str]:
    if call.tool not in IDEMPOTENT and len(call.runs) > 1:
        yield f"ran {len(call.runs)} times, and is not idempotent"


def in_time(call: Call) -> Iterator[str]:
    """A client that shows when it reconnected is measured from there; another has a second for that."""
    if call.killed is None or call.killed_again is None or call.end is None:
        return
    if call.reconnected is not None and call.reconnected > call.killed:
        seconds, since = call.end["t"] - call.reconnected - call.down, "its client had reconnected"
    else:
        seconds, since = call.end["t"] - call.killed_again - call.down - RECONNECT, "a worker was killed"
    if seconds > PATIENCE:
        yield f"ended {seconds:.1f} s after {since}"
    elif call.end["t"] - call.killed - call.down > SILENCE:
        yield f"ended only {call.end['t'] - call.killed:.1f} s after its worker was killed"


def no_event_twice(call: Call) -> Iterator[str]:
    doubled = [number for number, count in Counter(call.events).items() if count > 1]
    if doubled and not repeats_by_itself(call):
        yield f"events received twice: {doubled}"


def repeats_by_itself(call: Call) -> bool:
    """Whether the client asks for events again that it has: if a resumed stream is cut off as well, the
    official SDK (2.3, `_handle_reconnection`) repeats the `Last-Event-ID` of the first time."""
    return call.by.startswith("official") and call.killed != call.killed_again


def events_in_order(call: Call) -> Iterator[str]:
    distinct = list(dict.fromkeys(call.events))
    if distinct != list(range(1, len(distinct) + 1)):
        yield f"events out of order or with a gap: {distinct}"


def no_event_lost(call: Call) -> Iterator[str]:
    """Events of a call that ended with an answer of the server: its stream was read to the end."""
    if call.end and call.end.get("from_server") and (lost := set(call.sent) - set(call.events)):
        yield f"acknowledged events that were not received: {sorted(lost)}"


def drawn_once(call: Call) -> Iterator[str]:
    values = {question["value"] for question in call.questions}
    if len(values) > 1:
        yield f"asked about different outcomes of `once`: {sorted(values)}"
    if call.questions and any(draw["t"] > call.questions[0]["t"] for draw in call.draws):
        yield "the outcome of `once` was computed again after the client had it"
    if call.tool == "draw" and call.end and call.end["kind"] == "ok" and {call.end["value"]} != values:
        yield f"the result {call.end['value']} is not the outcome that was asked about: {sorted(values)}"


RULES: Final[Mapping[str, Callable[[Call], Iterator[str]]]] = {
    "answered": unanswered,
    "no silence": no_silence,
    "answered once": answered_once,
    "own answer": own_answer,
    "run once": run_once,
    "in time": in_time,
    "no event twice": no_event_twice,
    "events in order": events_in_order,
    "no event lost": no_event_lost,
    "drawn once": drawn_once,
}


def check(entries: list[Entry]) -> list[Violation]:
    calls = calls_of(entries)
    broken = [
        Violation(rule, call.id, text)
        for call in calls.values()
        for rule, judge in RULES.items()
        for text in judge(call)
    ]
    lost = [
        Violation("session kept", "", f"{entry['by']}: {entry['value']!r} instead of {entry['expected']!r}")
        for entry in entries
        if entry["kind"] == "marked" and entry["value"] != entry["expected"]
    ]
    return broken + lost


def errors_by_text(entries: list[Entry]) -> list[tuple[str, int]]:
    """How calls failed, and how often, by kind of client."""
    ends = [call.end for call in calls_of(entries).values() if call.end and call.end["kind"] == "error"]
    texts = Counter(f"{end['by'].partition('-')[0]}: {end['value'].splitlines()[0][:90]}" for end in ends)
    return texts.most_common()


def summary(entries: list[Entry]) -> dict[str, float]:
    """What was observed: a history without kills, or without resumed streams, proves little."""
    calls = list(calls_of(entries).values())
    hit = [call for call in calls if call.killed is not None]
    late = [
        call.end["t"] - max(call.killed, call.reconnected or 0.0) - call.down
        for call in hit
        if call.end and call.killed is not None
    ]
    return {
        "kills": sum(entry["kind"] == "killed" for entry in entries),
        "clients": len({call.by for call in calls}),
        "calls": len(calls),
        "answers": sum(call.end is not None and call.end["kind"] == "ok" for call in calls),
        "errors": sum(call.end is not None and call.end["kind"] == "error" for call in calls),
        "calls whose worker was killed": len(hit),
        "slowest end after kill or reconnect, s": round(max(late, default=0.0), 2),
        "resumed streams": sum(call.was_resumed and bool(call.sent) for call in calls),
        "repeated by the SDK": sum(
            len(call.events) - len(set(call.events)) for call in calls if repeats_by_itself(call)
        ),
        "events": sum(len(call.events) for call in calls),
        "clients that broke": sum(entry["kind"] == "broke" for entry in entries),
        "sessions kept": sum(entry["kind"] == "marked" for entry in entries),
    }
