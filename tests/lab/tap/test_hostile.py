"""Peers that attack the tap itself: endless input, text that acts on a terminal, and many conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.output.tap import View
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.tap.capture import MOST_OPEN, Capture
from assay.lab.tap.follower import Follower, SeenFinding, Status
from assay.lab.tap.grouping import Grouping
from assay.lab.tap.http_exchange import HttpExchanges
from assay.lab.tap.line_stream import LineStream
from assay.lab.tap.options import SMALLEST, TapOptions
from assay.lab.tap.view import GAP
from tests.lab.tap.test_http_relay import PONG, post, reply
from tests.lab.tap.traffic import recorded


def exchanges(path: Path) -> tuple[Capture, HttpExchanges]:
    capture = Capture(TapOptions(output=path, frame=SMALLEST, rotate=SMALLEST, keep=64 * SMALLEST), "x")
    return capture, HttpExchanges(Grouping(capture, "/mcp"), "127.0.0.1", SMALLEST)


def gaps(capture: Capture) -> list[str]:
    capture.close()
    return [
        str(mark.info.get("reason"))
        for file in sorted(capture.directory.glob("*.ndjson"))
        for mark in read_trace(file).marks(GAP)
    ]


def test_an_endless_line_is_noted_and_not_kept(tmp_path: Path) -> None:
    capture = Capture(TapOptions(output=tmp_path, frame=SMALLEST), "x")
    conversation = capture.begin("stdio")
    assert conversation is not None
    lines = LineStream(conversation, Sender.SUBJECT, SMALLEST)
    for _ in range(50):
        lines.feed(b"x" * SMALLEST)
        assert len(lines._lines) <= SMALLEST
    lines.feed(b"\nnext\n")
    lines.end()

    assert gaps(capture) == [f"a line: it has {50 * SMALLEST} bytes"]
    frames = read_trace(conversation.path).frames
    assert [frame.raw for frame in frames if frame.kind is Kind.LINE] == [b"next\n"]


@pytest.mark.parametrize(
    ("head", "piece", "reason"),
    [
        (b"Content-Type: text/event-stream\r\n", b"data: x", "an event: it has more than"),
        (b"Content-Type: application/json\r\n", b"[1,", "the body of a response: it has more than"),
        (b"Content-Type: application/json\r\nContent-Encoding: br\r\n", b"..", "its coding is br"),
        (b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n", b"no", "its coding is broken"),
    ],
)
def test_an_endless_or_odd_body_is_noted_and_not_kept(
    head: bytes, piece: bytes, reason: str, tmp_path: Path
) -> None:
    capture, reader = exchanges(tmp_path)
    reader.from_client(post(b"{}"))
    reader.from_server(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n")
    for _ in range(200):
        reader.from_server(piece * 1000)
    reader.server_left()

    assert any(reason in gap for gap in gaps(capture))


def test_an_endless_request_is_noted_and_not_kept(tmp_path: Path) -> None:
    capture, reader = exchanges(tmp_path)
    reader.from_client(b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(100):
        reader.from_client(b"1000\r\n" + b"x" * 4096 + b"\r\n")
    reader.client_left()

    assert any("a request: it has" in gap for gap in gaps(capture))


def test_pipelined_requests_are_bounded(tmp_path: Path) -> None:
    capture, reader = exchanges(tmp_path)
    reader.from_client(post(b"{}") * 1000)

    assert "requests wait for a response" in reader.problem
    capture.close()


def test_a_response_to_no_request_is_not_taken_for_a_later_one(tmp_path: Path) -> None:
    capture, reader = exchanges(tmp_path)
    reader.from_server(reply(PONG))
    reader.from_client(post(b"{}"))

    assert "a response to no request" in reader.problem
    assert not list(capture.directory.glob("*.ndjson"))


def test_many_conversations_keep_few_files_open(tmp_path: Path) -> None:
    capture = Capture(TapOptions(output=tmp_path), "x")
    for _ in range(MOST_OPEN + 50):
        capture.begin("stdio")

    assert len(capture.conversations) == MOST_OPEN
    capture.close()
    assert len(list(capture.directory.glob("*.ndjson"))) == MOST_OPEN + 50


def test_text_of_a_peer_does_not_act_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\r\n::error::x\u202e"
    finding = SeenFinding("server", "X-1", "MUST", evil, evil, "tap-1-stdio.ndjson")
    View(quiet=False).watch(Status(new=[finding], problem=evil))
    printed = capsys.readouterr().err

    assert "FAILURE server" in printed
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(printed)
    assert not any(line.startswith("::") for line in printed.splitlines())


def test_the_judge_survives_files_that_are_no_traces(tmp_path: Path) -> None:
    directory = recorded(tmp_path)
    (directory / "tap-2-stdio.ndjson").write_bytes(b"\x00garbage\n" * 10)
    (directory / "tap-3-stdio.ndjson").mkdir()
    follower = Follower(directory)
    status = follower.step(finish=True)

    assert status.lag == 0
    assert "tap-2-stdio.ndjson" in status.problem
    assert (directory / "run.json").exists()


def test_secrets_in_a_path_and_in_an_error_do_not_reach_the_disk(tmp_path: Path) -> None:
    capture, reader = exchanges(tmp_path)
    secret = b"tok-0123456789abcdef"
    reader.from_client(post(b"{}", b"Authorization: Bearer " + secret))
    reader.from_server(
        b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error="bad %b"\r\nContent-Length: 30\r\n\r\n'
        b"no such token: %b" % (secret, secret[:15])
    )
    reader.from_client(post(b'{"text":"again %b"}' % secret))
    capture.close()

    assert all(secret not in file.read_bytes() for file in capture.directory.iterdir())
