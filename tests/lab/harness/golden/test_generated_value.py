"""Golden runs of clients: what chance gives makes no difference, and everything else does."""

from collections import Counter
from typing import Any

import pytest

from assay.lab.harness.golden.canonical import canonical
from assay.lab.harness.golden.frame_difference import frame_differences
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE

Sent = tuple[Sender, str, Kind, bytes, dict[str, Any]]
THE_CLIENT, THE_HOST = Sender.SUBJECT, Sender.DRIVER


def trace_of(*frames: Sent) -> Trace:
    header = Header(HANDSHAKE[-1].date, "http", "x", "x", role="client")
    made = (Frame(n, 0.1 * n, *frame[:4], info=frame[4]) for n, frame in enumerate(frames))
    return Trace(header, list(made))


def posted(channel: str, body: str, *headers: str) -> Sent:
    head = "\r\n".join(("POST /mcp HTTP/1.1", *headers))
    return THE_CLIENT, channel, Kind.REQUEST, f"{head}\r\n\r\n{body}".encode(), {}


def apart(channel: str, text: str) -> Sent:
    """A request beside the endpoint."""
    return THE_CLIENT, channel, Kind.REQUEST, text.encode(), {"at": "authority"}


def answered(channel: str, body: str) -> Sent:
    return THE_HOST, channel, Kind.BODY, body.encode(), {}


def visit(port: int, chance: str, scope: str = "read") -> Trace:
    """A client on its way to a token."""
    origin = f"http://localhost:{port}"
    coded = f"http%3A%2F%2Flocalhost%3A{port}"
    asked = f"client_id=id-{chance}&state=state-{chance}&scope={scope}&resource={coded}%2Fmcp"
    return trace_of(
        (THE_HOST, "host/marks", Kind.MARK, b"", {"label": "laid out", "issuer": origin, "pid": port}),
        apart("authority/post-1", "POST /register HTTP/1.1\r\n\r\n{}"),
        answered("authority/post-1", f'{{"client_id":"id-{chance}","client_id_issued_at":{port}}}'),
        apart("authority/get-1", f"GET /authorize?{asked} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
        answered("authority/post-2", f'{{"access_token":"eyJ{chance}.eyJ{chance}.{chance}"}}'),
        posted("1/post-1", "{}", f"Authorization: Bearer eyJ{chance}.eyJ{chance}.{chance}"),
    )


def test_ports_names_and_tokens_of_chance_make_no_difference() -> None:
    one, other = canonical(visit(40001, "abcdefgh")), canonical(visit(50002, "ijklmnop"))
    assert list(frame_differences(one, other)) == []
    assert {"port", "client", "state", "token"} <= one.touched.keys()


def test_values_are_the_same_however_they_are_escaped() -> None:
    def way(state: str, escaped: str) -> Trace:
        asked = apart("authority/get-1", f"GET /authorize?state={escaped} HTTP/1.1\r\n\r\n")
        told = {"label": "expects", "state": state}
        return trace_of(asked, (THE_HOST, "host/marks", Kind.MARK, b"", told))

    one, other = canonical(way("abcd~efgh", "abcd%7Eefgh")), canonical(way("ijklmnop", "ijklmnop"))
    assert list(frame_differences(one, other)) == []
    assert {frame.info.get("state") for frame in one.trace.frames} >= {"(state-1)"}


def test_what_a_client_chose_makes_a_difference() -> None:
    before, after = canonical(visit(40001, "abcdefgh")), canonical(visit(50002, "ijklmnop", "write"))
    (found,) = frame_differences(before, after)
    assert (found.at, found.channel) == ("first line", "authority/get-1")


def test_value_that_is_another_where_it_should_be_the_same_makes_a_difference() -> None:
    frames = visit(40001, "abcdefgh").frames
    stray = posted("1/post-1", "{}", "Authorization: Bearer eyJwrong.eyJwrong.wrong")
    mixed = trace_of(*[(f.sender, f.channel, f.kind, f.raw, f.info) for f in frames[:-1]], stray)
    (found,) = frame_differences(canonical(visit(40001, "abcdefgh")), canonical(mixed))
    assert found.at == "header Authorization"


def test_canonical_form_stays_as_it_is() -> None:
    once = canonical(visit(40001, "abcdefgh")).trace
    assert list(canonical(once).trace.frames) == list(once.frames)


@pytest.mark.parametrize("key", ["n", "code", "state"])
def test_members_of_messages_are_no_values_of_chance(key: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"{key}":"something long"}}}}'
    kept = canonical(trace_of(posted("1/post-1", body))).trace.frames[0].raw
    assert b"something long" in kept


def called(channel: str, number: int, argument: int) -> Sent:
    params = f'{{"name":"add","arguments":{{"n":{argument}}}}}'
    body = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'
    return posted(channel, body)


def ended(channel: str) -> Sent:
    return THE_HOST, channel, Kind.END, b"", {"clean": True}


def test_calls_that_are_made_at_once_have_no_order() -> None:
    ends = ended("1/post-1"), ended("1/post-2")
    one = canonical(trace_of(called("1/post-1", 1, 1), called("1/post-2", 2, 2), *ends))
    other = canonical(trace_of(called("1/post-1", 2, 2), called("1/post-2", 1, 1), *ends))
    assert list(frame_differences(one, other)) == []
    assert one.trace.frames[0].channel == "1/post-tools/call-add-1"


def test_calls_one_after_the_other_have_an_order() -> None:
    first, second = ended("1/post-1"), ended("1/post-2")
    one = canonical(trace_of(called("1/post-1", 1, 1), first, called("1/post-2", 2, 2), second))
    other = canonical(trace_of(called("1/post-1", 1, 2), first, called("1/post-2", 2, 1), second))
    assert Counter(found.at for found in frame_differences(one, other)) == {"/params/arguments/n": 2}


def line(sender: Sender, text: str) -> Sent:
    return sender, "1/lines", Kind.LINE, text.encode() + b"\n", {}


def test_answers_of_the_host_come_as_they_are_ready() -> None:
    asked = [line(THE_CLIENT, f'{{"jsonrpc":"2.0","id":{n},"method":"ping"}}') for n in (1, 2)]
    answers = [line(THE_HOST, f'{{"jsonrpc":"2.0","id":{n},"result":{{}}}}') for n in (1, 2)]
    one = canonical(trace_of(*asked, *answers))
    other = canonical(trace_of(*asked, *reversed(answers)))
    assert list(frame_differences(one, other)) == []
    assert one.trace.frames[1].sender is THE_HOST  # each answer behind its request


def returning(times: int) -> Trace:
    """A client that listens so many times."""
    head = b"GET /mcp HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n"
    frames: list[Sent] = []
    for n in range(1, times + 1):
        frames += [(THE_CLIENT, f"1/get-{n}", Kind.REQUEST, head, {}), ended(f"1/get-{n}")]
    return trace_of(*frames)


@pytest.mark.parametrize(("times", "differences"), [(5, 0), (2, 0), (1, 2)])
def test_later_returns_to_a_stream_are_of_no_account(times: int, differences: int) -> None:
    excused: Counter[str] = Counter()
    found = list(frame_differences(canonical(returning(4)), canonical(returning(times)), excused))
    assert len(found) == differences
    assert ("later returns" in excused) is (times != 4)


def test_message_that_was_written_piece_by_piece_is_one() -> None:
    asked = [line(THE_CLIENT, f'{{"jsonrpc":"2.0","id":{n},"method":"ping"}}') for n in (1, 2)]
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    pieces: list[Sent] = [
        (THE_HOST, "1/lines", Kind.LINE, one, {}) for one in (answer[:9], answer[9:-1], answer[-1:])
    ]
    made = canonical(trace_of(*asked, *pieces))
    once = made.trace
    assert [frame.sender for frame in once.frames] == [THE_CLIENT, THE_HOST, THE_CLIENT]
    assert made.touched["pieces"] == 2
    assert list(canonical(once).trace.frames) == list(once.frames)


def test_line_without_an_end_stays_beside_the_end_of_all() -> None:
    end: Sent = (THE_HOST, "1/lines", Kind.END, b"", {"clean": False})
    once = canonical(trace_of((THE_HOST, "1/lines", Kind.LINE, b'{"json', {}), end)).trace
    assert [(frame.kind, frame.raw) for frame in once.frames] == [(Kind.LINE, b'{"json'), (Kind.END, b"")]
