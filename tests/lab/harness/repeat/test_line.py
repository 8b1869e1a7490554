"""The line of a finding sends what shows the fault, and nothing that a shell would change."""

import shlex
import subprocess
from collections.abc import Iterator

import msgspec
import pytest

from assay.lab.harness.repeat.line import message_line, repeating_line
from assay.lab.harness.repeat.message_line import MessageLine
from assay.lab.harness.repeat.output import printed_trace
from assay.lab.harness.repeat.shell import printed
from assay.lab.harness.scripted_server.client import ATTACHED
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import HANDSHAKE, REVISIONS
from tests.lab.traces import request, result, stdio_trace

DATE = HANDSHAKE[-1].date
URL = "http://localhost:3000/mcp"
OPENING = (
    (">", request(1, "initialize")),
    ("<", result(1)),
    (">", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
)
BAD = result(2, pong=True)


def judge_pings(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("ping"):
        yield observe("PNG-01", not exchange.result, exchange, expected="nothing", observed=exchange.result)


def judge_both(trace: Trace) -> Iterator[Observation]:
    """Needs a request that the finding does not cite."""
    if any(trace.exchanges("tools/list")):
        yield from judge_pings(trace)


def fault_in(trace: Trace) -> Observation:
    return next(each for each in judge_pings(trace) if not each.holds)


def with_header(trace: Trace, **fields: str) -> Trace:
    return Trace(msgspec.structs.replace(trace.header, **fields), trace.frames)


def run(line: str) -> bytes:
    return subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout


def test_handshake_and_cited_message_are_piped_without_what_is_between() -> None:
    others = ((">", request(9, "tools/list")), ("<", result(9)), (">", request(2, "ping")), ("<", BAD))
    trace = with_header(stdio_trace(*OPENING, *others), subject="cat")
    line = repeating_line(trace, fault_in(trace), judge_pings)
    sent = run(line.replace("sleep 1", "true"))
    assert [msgspec.json.decode(part)["method"] for part in sent.splitlines()] == [
        "initialize",
        "notifications/initialized",
        "ping",
    ]


def test_message_that_the_fault_depends_on_is_sent_too() -> None:
    others = ((">", request(9, "tools/list")), ("<", result(9)), (">", request(2, "ping")), ("<", BAD))
    trace = stdio_trace(*OPENING, *others)
    line = repeating_line(trace, fault_in(trace), judge_both)
    assert "tools/list" in line and "printf" in line


def test_scenario_is_run_again_if_messages_alone_do_not_show_the_fault() -> None:
    trace = with_header(stdio_trace(*OPENING, (">", request(2, "ping")), ("<", BAD)), subject="python x.py")
    line = repeating_line(trace, fault_in(trace), lambda trace: ())
    assert line == f"assay check --scenario by-hand --spec-version {trace.header.revision} -- python x.py"


def test_answer_to_the_server_is_not_piped() -> None:
    asked = ("<", request("q", "sampling/createMessage")), (">", result("q"))
    trace = stdio_trace(*OPENING, (">", request(2, "ping")), *asked, ("<", BAD))
    assert message_line(trace, fault_in(trace), judge_pings) is None


def test_cursor_that_the_server_gave_out_is_not_sent_again() -> None:
    first = (">", request(8, "ping")), ("<", result(8, nextCursor="abc"))
    second = (">", request(2, "ping", cursor="abc")), ("<", BAD)
    trace = stdio_trace(*OPENING, *first, *second)
    line = message_line(trace, list(judge_pings(trace))[1], judge_pings)
    assert line is None or "abc" not in line.text


def http_frames(*, host: str = "localhost:3000", session: str = "") -> list[Frame]:
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nX-Empty:\r\n{session}\r\n".encode()
    body = msgspec.json.encode(request(2, "ping"))
    channel = "1/post-2"
    return [
        Frame(0, 0.0, Sender.DRIVER, channel, Kind.REQUEST, head + body),
        Frame(
            1,
            0.1,
            Sender.SUBJECT,
            channel,
            Kind.HEAD,
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
        ),
        Frame(2, 0.1, Sender.SUBJECT, channel, Kind.BODY, msgspec.json.encode(BAD)),
        Frame(3, 0.1, Sender.SUBJECT, channel, Kind.END, b"", {"clean": True}),
    ]


def http_trace(**options: str) -> Trace:
    return Trace(Header(DATE, "http", URL, "lifecycle.ping", closed=True), http_frames(**options))


def test_forged_host_is_a_header_and_not_the_address() -> None:
    trace = http_trace(host="evil.example")
    words = shlex.split(repeating_line(trace, fault_in(trace), judge_pings))
    assert words[words.index("||") - 1] == URL and "Host: evil.example" in words


def test_headers_that_curl_would_add_are_removed() -> None:
    trace = http_trace()
    words = shlex.split(repeating_line(trace, fault_in(trace), judge_pings))
    assert {"Accept:", "Content-Type:", "X-Empty;"} <= set(words)


@pytest.mark.parametrize(("took", "limit"), [(0.1, "5"), (9.0, "18")])
def test_response_is_not_awaited_for_ever(took: float, limit: str) -> None:
    """The driver may have ended it, and a stream that was refused may open once the fault is fixed."""
    *frames, end = http_frames()
    trace = Trace(http_trace().header, [*frames, msgspec.structs.replace(end, t=took)])
    words = shlex.split(repeating_line(trace, fault_in(trace), judge_pings))
    assert words[words.index("-m") + 1] == limit


def test_redacted_token_is_a_variable() -> None:
    trace = http_trace(session="Authorization: [redacted]\r\n")
    assert '-H "Authorization: Bearer $TOKEN"' in repeating_line(trace, fault_in(trace), judge_pings)


def test_server_that_the_lab_served_is_judged_again() -> None:
    again = f"assay check server.py --scenario lifecycle.ping --spec-version {DATE} --transport http"
    trace = with_header(http_trace(), again=again)
    assert repeating_line(trace, fault_in(trace), judge_pings) == again


def test_what_a_line_prints_is_judged_like_a_trace() -> None:
    trace = http_trace()
    line = message_line(trace, fault_in(trace), judge_pings)
    assert line is not None
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    healthy = printed_trace(line, head + msgspec.json.encode(result(2)) + b"\n")
    faulty = printed_trace(line, head + msgspec.json.encode(BAD) + b"\n")
    assert [each.holds for trace in (healthy, faulty) for each in judge_pings(trace)] == [True, False]


def test_printed_lines_keep_their_order_and_take_the_places_of_recorded_ones() -> None:
    first, second = ("<", [result(4), result(5)]), ("<", [result(6)])
    trace = stdio_trace(*OPENING, (">", request(2, "ping")), ("<", BAD), first, second)
    line = MessageLine("cat", trace, ("1/lines",))
    printed = [result(6)], [result(4), result(5)], BAD
    output = b"".join(msgspec.json.encode(value) + b"\n" for value in printed)
    received = [frame.raw for frame in printed_trace(line, output).frames if frame.sender is Sender.SUBJECT]
    assert [msgspec.json.decode(raw) for raw in received] == list(printed)


def test_end_of_a_response_is_what_curl_reports() -> None:
    trace = http_trace()
    line = message_line(trace, fault_in(trace), judge_pings)
    assert line is not None
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    ends = {}
    for status, output in (
        (0, head + b"{}\n"),
        (28, head + b"{}\n(curl: exit 28)\n"),
        (52, b"\n(curl: exit 52)\n"),
    ):
        frames = printed_trace(line, output).frames
        ends[status] = [frame.info.get("clean") for frame in frames if frame.kind is Kind.END]
    assert ends == {0: [True], 28: [], 52: [False]}


@pytest.mark.parametrize(
    "odd", [b"no end", b"two\nlines\n", b"\n\n", b"\xff\xfe'\\", b'{\n "a": "\\n\xc3\xa9%s\'",\r}']
)
def test_bytes_are_printed_as_they_were_by_one_line(odd: bytes) -> None:
    line = printed([b'{"a": "it\'s \\\\n 100%"}\n', odd])
    assert "\n" not in line and line.isprintable()
    assert run(line) == b'{"a": "it\'s \\\\n 100%"}\n' + odd


def test_client_is_started_again_with_its_scenario() -> None:
    header = Header(REVISIONS[-1].date, "ws", "python 'my client.py'", "tools_call", role="client")
    line = repeating_line(Trace(header, []), Observation("X", False, "", "", ()), judge_pings)
    assert shlex.split(line)[:3] == ["assay", "client", "--command"]
    assert shlex.split(line)[3:] == [
        *("python 'my client.py'", "--scenario", "tools_call"),
        *("--spec-version", REVISIONS[-1].date, "--transport", "ws"),
    ]


@pytest.mark.parametrize(("transport", "more"), [("http", ""), ("stdio", " --transport stdio")])
def test_attached_client_is_awaited_again(transport: str, more: str) -> None:
    header = Header(DATE, transport, ATTACHED, "core.open-house", role="client")
    line = f"assay client --attach --scenario core.open-house --spec-version {DATE}{more}"
    assert repeating_line(Trace(header, []), Observation("X", False, "", "", ()), judge_pings) == line
