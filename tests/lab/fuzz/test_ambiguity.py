"""Which bodies are unambiguous, and which requests need an answer."""

import pytest

from assay.lab.fuzz.ambiguity import is_clear, is_invalid_json, is_unambiguous, needs_answer
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
def test_body_that_parsers_read_differently_is_ambiguous(body: bytes) -> None:
    assert not is_unambiguous(body)


@pytest.mark.parametrize("body", [b'{"a":[1,-0.5,"\\u4e16",null]}', b" {} ", '"世🦊"'.encode(), b"[]"])
def test_plain_json_is_unambiguous(body: bytes) -> None:
    assert is_unambiguous(body)
    assert not is_invalid_json(body)


@pytest.mark.parametrize("body", [b"{", b"nonsense", b'{"a":1}}', b"{'a':1}"])
def test_invalid_json(body: bytes) -> None:
    assert is_invalid_json(body)


@pytest.mark.parametrize("body", [b"", b" ", b"[1", b"9" * 5000, b"\xff", b"{\x00", b"NaN"])
def test_json_that_some_parsers_accept_or_ignore(body: bytes) -> None:
    assert not is_invalid_json(body)


def test_listening_needs_no_answer() -> None:
    frame = stdio_trace((">", request(1, "subscriptions/listen"))).frames[0]
    (message,) = read_messages(frame, frame.raw)
    assert not needs_answer(message)


def test_one_ambiguous_body_makes_a_trace_unclear() -> None:
    assert is_clear(stdio_trace((">", request(1, "ping")), ("<", b'"\\ud800"\n')))
    assert not is_clear(stdio_trace((">", request(1, "ping")), (">", b'"\\ud800"\n')))
