"""An answer is owed only to what nobody can read in two ways."""

import pytest

from assay.lab.fuzz.certainty import is_certain, is_clear, is_no_json, is_owed
from assay.lab.harness.trace.message import read_messages
from tests.lab.traces import request, stdio_trace


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":2}',
        b'"\\ud800"',
        b'"\xed\xa0\x80"',
        b"[" * 40 + b"]" * 40,
        b"9" * 400,
        b"1e999",
        b"9007199254740993",
        b"NaN",
        b'\xef\xbb\xbf{"a":1}',
        b'"' + b"a" * 40_000 + b'"',
        b"{",
        b"\xff",
    ],
)
def test_what_readers_differ_about_is_not_certain(body: bytes) -> None:
    assert not is_certain(body)


@pytest.mark.parametrize("body", [b'{"a":[1,-0.5,"\\u4e16",null]}', b" {} ", '"世🦊"'.encode(), b"[]"])
def test_plain_json_is_certain(body: bytes) -> None:
    assert is_certain(body)
    assert not is_no_json(body)


@pytest.mark.parametrize("body", [b"{", b"nonsense", b'{"a":1}}', b"{'a':1}"])
def test_what_nobody_takes_for_json(body: bytes) -> None:
    assert is_no_json(body)


@pytest.mark.parametrize("body", [b"", b" ", b"[1", b"9" * 5000, b"\xff", b"{\x00", b"NaN"])
def test_what_somebody_may_take_for_json_or_for_nothing(body: bytes) -> None:
    assert not is_no_json(body)


def test_a_stream_that_stays_open_owes_no_answer() -> None:
    frame = stdio_trace((">", request(1, "subscriptions/listen"))).frames[0]
    (message,) = read_messages(frame, frame.raw)
    assert not is_owed(message)


def test_one_odd_body_makes_a_trace_unclear() -> None:
    assert is_clear(stdio_trace((">", request(1, "ping")), ("<", b'"\\ud800"\n')))
    assert not is_clear(stdio_trace((">", request(1, "ping")), (">", b'"\\ud800"\n')))
