"""Cases: their encoding as a word, and the labels that distinguish findings."""

import pytest

from assay.lab.fuzz.case import BadCase, Case, Step, dump_case, parse_case

PING = Step(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')


@pytest.mark.parametrize(
    "case",
    [
        Case((PING,)),
        Case((PING, Step(b"\xff\x00", (("Accept", None), ("Mcp-Name", "é")), "GET")), together=True),
        Case((Step(b"[" * 100_000, framed=False, may_run_long=True),)),
    ],
)
def test_case_round_trips_as_a_word(case: Case) -> None:
    word = dump_case(case)
    assert parse_case(word) == case
    assert len(word) < 400


@pytest.mark.parametrize("word", ["", "?", "abc", "eNqbNHHKEQ6l", dump_case(Case((PING,)))[:-6]])
def test_invalid_word_is_refused(word: str) -> None:
    with pytest.raises(BadCase):
        parse_case(word)


@pytest.mark.parametrize(
    ("step", "label"),
    [
        (PING, "request ping"),
        (Step(b'{"method":"no/such","id":1}'), "request unknown method"),
        (Step(b'{"method":"notifications/cancelled"}'), "notification notifications/cancelled"),
        (Step(b'{"id":1,"method":"tools/call","params":{"name":"echo"}}'), "request tools/call echo"),
        (Step(b'{"id":1,"method":"tools/call","params":{"name":""}}'), "request tools/call"),
        (Step(b'{"id":1,"result":{}}'), "response"),
        (Step(b"[1]"), "batch"),
        (Step(b"7"), "no message"),
        (Step(b"nonsense"), "no message"),
        (Step(b"", verb="DELETE"), "DELETE"),
        (Step(b"\x81\x00", framed=False), "raw bytes"),
        (Step(PING.body, (("Accept", ""),)), "request ping with Accept"),
    ],
)
def test_label_of_a_step(step: Step, label: str) -> None:
    assert step.label == label


def test_fewer_steps_are_smaller_than_fewer_bytes() -> None:
    assert Case((Step(b"a" * 100),)).size < Case((Step(b""), Step(b""))).size
