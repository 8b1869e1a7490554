"""The recorder keeps frames up to a limit, and no credentials."""

import json

import pytest

from assay.lab.harness.trace import recorder as module
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Flooded, Recorder, Redaction

HEADER = Header("any", "http", "subject", "scenario")
TOKEN = "s3cret-token"


def test_credentials_never_reach_a_frame() -> None:
    recorder = Recorder(HEADER, Redaction([TOKEN]))
    head = f"POST / HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nCookie: a=b\r\nAccept: x\r\n\r\n".encode()
    recorder.record(Sender.DRIVER, "1/post-1", Kind.REQUEST, head + TOKEN.encode())
    recorder.record(Sender.SUBJECT, "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\nSet-Cookie: id=1\r\n\r\n")
    recorder.record(Sender.SUBJECT, "1/errors", Kind.ERRORS, b"got " + TOKEN.encode())
    recorded = b"".join(frame.raw for frame in recorder.trace(closed=True).frames)
    assert TOKEN.encode() not in recorded
    assert b"Cookie: [redacted]\r\nAccept: x" in recorded
    assert b"Set-Cookie: [redacted]" in recorded
    assert b"got [redacted]" in recorded


def test_longer_secret_is_replaced_before_one_that_is_part_of_it() -> None:
    secrets = ["abcdefgh", "abcdefghijkl"]
    assert Redaction(secrets).text(b"abcdefghijkl abcdefgh") == b"[redacted] [redacted]"


def test_secret_too_short_to_be_unique_is_replaced_in_its_header_only() -> None:
    redaction = Redaction(["test"], headers=["X-Env"])
    assert redaction.text(b"test_tool") == b"test_tool"
    assert redaction.head(b"GET / HTTP/1.1\r\nx-env: test\r\n\r\ntest") == (
        b"GET / HTTP/1.1\r\nx-env: [redacted]\r\n\r\ntest"
    )


def test_secret_is_replaced_in_its_json_encoding() -> None:
    secret = 'quo"te-schlüssel'
    assert Redaction([secret]).text(json.dumps(secret).encode()) == b'"[redacted]"'


def test_values_are_redacted_all_the_way_down() -> None:
    redaction = Redaction([TOKEN])
    assert redaction.value({TOKEN: [f"a {TOKEN}", 1, None, {"deep": TOKEN}]}) == {
        "[redacted]": ["a [redacted]", 1, None, {"deep": "[redacted]"}]
    }
    assert redaction.string("\ud800") == "\ud800"


def test_time_is_counted_from_the_beginning() -> None:
    moments = iter([100.0, 100.5, 101.25])
    recorder = Recorder(HEADER, clock=lambda: next(moments))
    recorder.mark("1/marks", "first")
    recorder.mark("1/marks", "second")
    assert [frame.t for frame in recorder.trace(closed=True).frames] == [0.5, 1.25]


def test_flood_is_refused_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FRAMES", 3)
    recorder = Recorder(HEADER)
    for _ in range(3):
        recorder.mark("1/marks", "allowed")
    with pytest.raises(Flooded):
        recorder.mark("1/marks", "too many")
    assert len(recorder.trace(closed=False).frames) == 3


def test_bytes_are_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    recorder = Recorder(HEADER)
    recorder.record(Sender.SUBJECT, "1/lines", Kind.LINE, b"12345678")
    with pytest.raises(Flooded):
        recorder.record(Sender.SUBJECT, "1/lines", Kind.LINE, b"1234")


def test_a_secret_is_replaced_from_when_it_is_learned() -> None:
    redaction = Redaction(["known-from-the-start"])
    redaction.learn("learned-later")
    redaction.learn("learned-later-and-longer")
    text = b"known-from-the-start learned-later-and-longer learned-later"
    assert redaction.text(text) == b"[redacted] [redacted] [redacted]"


def test_secret_too_short_to_be_unique_is_not_replaced() -> None:
    redaction = Redaction()
    redaction.learn("ping")
    assert redaction.text(b"ping") == b"ping"
