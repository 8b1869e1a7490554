"""The catalogue of escapes, and what a report of them says."""

import json
from pathlib import Path

import pytest

from assay.sandbox.canary.__main__ import attempt
from assay.sandbox.canary.catalogue import ESCAPES
from assay.sandbox.canary.escape import Area, Bait, Blocked, NotPossible, Outcome, escape
from assay.sandbox.canary.report import LARGEST, Attempted, Report, parse_report
from assay.sandbox.launch.plan import Protection

BAIT = Bait(
    tcp=1, tcp6=0, relayed=3, udp=2, abstract="a", directory="/d", marker="m", process=9, caller=8,
    shared_memory=-1, home="/h", variable="V", scratch="/s", program="/p",
)  # fmt: skip


def test_there_are_enough_escapes_in_every_area() -> None:
    counts = {area: sum(item.area is area for item in ESCAPES) for area in Area}

    assert len({item.id for item in ESCAPES}) == len(ESCAPES) >= 25
    assert min(counts.values()) >= 5


def test_every_protection_is_why_some_escape_fails() -> None:
    # The host name alone prevents nothing: setting it needs a capability.
    assert {guard for item in ESCAPES for guard in item.guards} == {*Protection} - {Protection.HOST_NAME}
    assert all(item.guards for item in ESCAPES)


def ends(how: object) -> object:
    @escape("trial", "A trial", Area.NETWORK, Protection.NETWORK)
    def trial(bait: Bait) -> str:
        if isinstance(how, BaseException):
            raise how
        return str(how)

    return trial


@pytest.mark.parametrize(
    ("how", "outcome", "text"),
    [
        ("done", Outcome.SUCCEEDED, "done"),
        (PermissionError(1, "Operation not permitted"), Outcome.BLOCKED, "Operation not permitted"),
        (Blocked("as intended"), Outcome.BLOCKED, "as intended"),
        (NotPossible("no such thing"), Outcome.NOT_POSSIBLE, "no such thing"),
    ],
)
def test_an_attempt_is_reported_with_how_it_ended(how: object, outcome: Outcome, text: str) -> None:
    result = attempt(ends(how), BAIT)  # type: ignore[arg-type]

    assert result == {"id": "trial", "outcome": outcome, "how": text}


def test_a_faulty_attempt_does_not_count_as_blocked() -> None:
    with pytest.raises(RuntimeError, match="trial ended without an outcome"):
        attempt(ends(KeyError("a fault of ours")), BAIT)  # type: ignore[arg-type]


def report(*, through: str = "", missing: str = "") -> Report:
    outcomes = {through: Outcome.SUCCEEDED, missing: Outcome.NOT_POSSIBLE}
    return Report(
        tuple(Attempted(item.id, outcomes.get(item.id, Outcome.BLOCKED), "how") for item in ESCAPES)
    )


def test_what_got_through_is_counted_in_its_area() -> None:
    result = report(through="mount")

    assert [item.id for item in result.escapes(Area.PRIVILEGES)] == ["mount"]
    assert result.escapes(Area.NETWORK) == ()
    assert result.text == f"{len(ESCAPES) - 1}/{len(ESCAPES)}"


def test_what_the_machine_cannot_do_is_not_an_attempt() -> None:
    result = report(missing="tcp-ipv6")

    assert len(result.of(Area.NETWORK)) == len(report().of(Area.NETWORK)) - 1
    assert result.text == f"{len(ESCAPES) - 1}/{len(ESCAPES) - 1}"


def test_a_stored_report_is_read_again() -> None:
    assert parse_report(report().as_json()) == report()


def shortened(text: bytes) -> bytes:
    fields = json.loads(text)
    return json.dumps({**fields, "attempts": fields["attempts"][1:]}).encode()


@pytest.mark.parametrize("data", [b"[]", b"{", shortened(report().as_json()), b" " * (LARGEST + 1)], ids=len)
def test_a_report_that_leaves_something_out_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse_report(data)


def test_no_attempt_needs_more_than_the_standard_library() -> None:
    source = Path(attempt.__code__.co_filename).parent
    texts = [path.read_text() for path in source.glob("*.py") if path.name != "report.py"]

    assert not any("import msgspec" in text for text in texts)
