"""Golden runs of clients: generated values make no difference, and everything else does."""

from collections import Counter
from typing import Any

import pytest

from assay.lab.harness.golden.canonical import canonical
from assay.lab.harness.golden.frame_difference import frame_differences
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE

Sent = tuple[Sender, str, Kind, bytes, dict[str, Any]]
CLIENT, SERVER = Sender.SUBJECT, Sender.DRIVER


def trace_of(*frames: Sent) -> Trace:
    header = Header(HANDSHAKE[-1].date, "http", "x", "x", role="client")
    return Trace(header, [Frame(n, 0.1 * n, *frame[:4], info=frame[4]) for n, frame in enumerate(frames)])


def posted(channel: str, body: str, *headers: str) -> Sent:
    head = "\r\n".join(("POST /mcp HTTP/1.1", *headers))
    return CLIENT, channel, Kind.REQUEST, f"{head}\r\n\r\n{body}".encode(), {}


def elsewhere(channel: str, text: str) -> Sent:
    """A request to another server than the endpoint."""
    return CLIENT, channel, Kind.REQUEST, text.encode(), {"at": "authority"}


def answered(channel: str, body: str) -> Sent:
    return SERVER, channel, Kind.BODY, body.encode(), {}


def authorization(port: int, random: str, scope: str = "read") -> Trace:
    """A client that gets a token."""
    origin = f"http://localhost:{port}"
    coded = f"http%3A%2F%2Flocalhost%3A{port}"
    query = f"client_id=id-{random}&state=state-{random}&scope={scope}&resource={coded}%2Fmcp"
    return trace_of(
        (SERVER, "host/marks", Kind.MARK, b"", {"label": "laid out", "issuer": origin, "pid": port}),
        elsewhere("authority/post-1", "POST /register HTTP/1.1\r\n\r\n{}"),
        answered("authority/post-1", f'{{"client_id":"id-{random}","client_id_issued_at":{port}}}'),
        elsewhere("authority/get-1", f"GET /authorize?{query} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
        answered("authority/post-2", f'{{"access_token":"eyJ{random}.eyJ{random}.{random}"}}'),
        posted("1/post-1", "{}", f"Authorization: Bearer eyJ{random}.eyJ{random}.{random}"),
    )


def test_generated_ports_names_and_tokens_make_no_difference() -> None:
    before = canonical(authorization(40001, "abcdefgh"))
    after = canonical(authorization(50002, "ijklmnop"))
    assert list(frame_differences(before, after)) == []
    assert {"port", "client", "state", "token"} <= before.applied.keys()


def test_differently_escaped_values_are_equal() -> None:
    def request(state: str, escaped: str) -> Trace:
        call = elsewhere("authority/get-1", f"GET /authorize?state={escaped} HTTP/1.1\r\n\r\n")
        info = {"label": "expects", "state": state}
        return trace_of(call, (SERVER, "host/marks", Kind.MARK, b"", info))

    before = canonical(request("abcd~efgh", "abcd%7Eefgh"))
    after = canonical(request("ijklmnop", "ijklmnop"))
    assert list(frame_differences(before, after)) == []
    assert {frame.info.get("state") for frame in before.trace.frames} >= {"(state-1)"}


def test_values_that_the_client_chose_make_a_difference() -> None:
    before, after = (
        canonical(authorization(40001, "abcdefgh")),
        canonical(authorization(50002, "ijklmnop", "write")),
    )
    (difference,) = frame_differences(before, after)
    assert (difference.at, difference.channel) == ("first line", "authority/get-1")


def test_different_value_where_it_should_be_repeated_makes_a_difference() -> None:
    frames = authorization(40001, "abcdefgh").frames
    stray = posted("1/post-1", "{}", "Authorization: Bearer eyJwrong.eyJwrong.wrong")
    mixed = trace_of(*[(f.sender, f.channel, f.kind, f.raw, f.info) for f in frames[:-1]], stray)
    (difference,) = frame_differences(canonical(authorization(40001, "abcdefgh")), canonical(mixed))
    assert difference.at == "header Authorization"


def test_canonical_form_is_idempotent() -> None:
    once = canonical(authorization(40001, "abcdefgh")).trace
    assert list(canonical(once).trace.frames) == list(once.frames)


@pytest.mark.parametrize("key", ["n", "code", "state"])
def test_members_of_messages_are_not_generated_values(key: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"{key}":"something long"}}}}'
    raw = canonical(trace_of(posted("1/post-1", body))).trace.frames[0].raw
    assert b"something long" in raw


def called(channel: str, number: int, argument: int) -> Sent:
    params = f'{{"name":"add","arguments":{{"n":{argument}}}}}'
    body = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'
    return posted(channel, body)


def ended(channel: str) -> Sent:
    return SERVER, channel, Kind.END, b"", {"clean": True}


def test_concurrent_calls_have_no_order() -> None:
    ends = ended("1/post-1"), ended("1/post-2")
    before = canonical(trace_of(called("1/post-1", 1, 1), called("1/post-2", 2, 2), *ends))
    after = canonical(trace_of(called("1/post-1", 2, 2), called("1/post-2", 1, 1), *ends))
    assert list(frame_differences(before, after)) == []
    assert before.trace.frames[0].channel == "1/post-tools/call-add-1"


def test_sequential_calls_have_an_order() -> None:
    first, second = ended("1/post-1"), ended("1/post-2")
    before = canonical(trace_of(called("1/post-1", 1, 1), first, called("1/post-2", 2, 2), second))
    after = canonical(trace_of(called("1/post-1", 1, 2), first, called("1/post-2", 2, 1), second))
    places = Counter(difference.at for difference in frame_differences(before, after))
    assert places == {"/params/arguments/n": 2}


def line(sender: Sender, text: str) -> Sent:
    return sender, "1/lines", Kind.LINE, text.encode() + b"\n", {}


def test_order_of_answers_makes_no_difference() -> None:
    pings = [line(CLIENT, f'{{"jsonrpc":"2.0","id":{n},"method":"ping"}}') for n in (1, 2)]
    answers = [line(SERVER, f'{{"jsonrpc":"2.0","id":{n},"result":{{}}}}') for n in (1, 2)]
    before = canonical(trace_of(*pings, *answers))
    after = canonical(trace_of(*pings, *reversed(answers)))
    assert list(frame_differences(before, after)) == []
    assert before.trace.frames[1].sender is SERVER  # each answer follows its request


def returning(times: int) -> Trace:
    """A client that opens its GET stream a number of times."""
    head = b"GET /mcp HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n"
    frames: list[Sent] = []
    for n in range(1, times + 1):
        frames += [(CLIENT, f"1/get-{n}", Kind.REQUEST, head, {}), ended(f"1/get-{n}")]
    return trace_of(*frames)


@pytest.mark.parametrize(("times", "differences"), [(5, 0), (2, 0), (1, 2)])
def test_later_returns_to_a_stream_are_ignored(times: int, differences: int) -> None:
    excused: Counter[str] = Counter()
    remaining = list(frame_differences(canonical(returning(4)), canonical(returning(times)), excused))
    assert len(remaining) == differences
    assert ("later returns" in excused) is (times != 4)


def test_pieces_of_a_line_are_joined() -> None:
    pings = [line(CLIENT, f'{{"jsonrpc":"2.0","id":{n},"method":"ping"}}') for n in (1, 2)]
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    pieces: list[Sent] = [
        (SERVER, "1/lines", Kind.LINE, piece, {}) for piece in (answer[:9], answer[9:-1], answer[-1:])
    ]
    joined = canonical(trace_of(*pings, *pieces))
    once = joined.trace
    assert [frame.sender for frame in once.frames] == [CLIENT, SERVER, CLIENT]
    assert joined.applied["pieces"] == 2
    assert list(canonical(once).trace.frames) == list(once.frames)


def test_unfinished_line_at_the_end_stays() -> None:
    end: Sent = (SERVER, "1/lines", Kind.END, b"", {"clean": False})
    once = canonical(trace_of((SERVER, "1/lines", Kind.LINE, b'{"json', {}), end)).trace
    assert [(frame.kind, frame.raw) for frame in once.frames] == [(Kind.LINE, b'{"json'), (Kind.END, b"")]
