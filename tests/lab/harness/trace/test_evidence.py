"""Excerpts prefer protocol traffic, and the command of a finding sends what the driver sent."""

import shlex
import subprocess

import msgspec
import pytest

from assay.lab.harness.scripted_server.client import ATTACHED
from assay.lab.harness.trace.evidence import LONGEST, MOST, excerpts, reproduction
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import REVISIONS
from tests.lab.traces import request, result, stdio_trace

MESSAGES = (request(1, "initialize"), request(2, 'it\'s \\n "quoted" 100%'))


def trace_of(*kinds: Kind) -> Trace:
    frames = [Frame(n, 0.0, Sender.SUBJECT, "1/lines", kind, b"x") for n, kind in enumerate(kinds)]
    return Trace(Header("a-revision", "stdio", "it", "by-hand", closed=True), frames)


def numbers(lines: list[str]) -> list[int]:
    return [int(line.split()[1].removeprefix("#")) for line in lines]


def test_few_frames_are_all_shown() -> None:
    trace = trace_of(Kind.LINE, Kind.ERRORS, Kind.LINE)
    assert numbers(excerpts(trace, range(3))) == [0, 1, 2]


def test_the_answer_is_shown_despite_many_lines_on_standard_error() -> None:
    trace = trace_of(Kind.LINE, *[Kind.ERRORS] * MOST, Kind.LINE)
    assert numbers(excerpts(trace, range(MOST + 2))) == [0, MOST + 1]


def test_standard_error_is_shown_if_there_is_nothing_else() -> None:
    trace = trace_of(*[Kind.ERRORS] * (MOST + 1))
    assert numbers(excerpts(trace, range(MOST + 1))) == list(range(MOST))


def piped_to(command: str, trace: Trace) -> str:
    subject = Trace(msgspec.structs.replace(trace.header, subject=command), trace.frames)
    return reproduction(subject, [len(trace.frames) - 1])


def test_messages_are_piped_by_one_line() -> None:
    trace = stdio_trace(*((">", message) for message in MESSAGES))
    line = piped_to("cat", trace)
    assert "\n" not in line
    output = subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout
    assert output == b"".join(frame.raw for frame in trace.frames)


@pytest.mark.parametrize("odd", [b"no end", b"two\nlines\n", b"\n\n"])
def test_other_bytes_are_piped_as_they_were(odd: bytes) -> None:
    trace = stdio_trace((">", MESSAGES[0]), (">", odd))
    output = subprocess.run(["sh", "-c", piped_to("cat", trace)], capture_output=True, check=True).stdout
    assert output == b"".join(frame.raw for frame in trace.frames)


def test_client_is_started_again_with_its_scenario() -> None:
    header = Header(REVISIONS[-1].date, "ws", "python 'my client.py'", "tools_call", role="client")
    line = reproduction(Trace(header, []), [])
    assert shlex.split(line)[:3] == ["assay", "client", "--command"]
    assert shlex.split(line)[3:] == [
        *("python 'my client.py'", "--scenario", "tools_call"),
        *("--spec-version", REVISIONS[-1].date, "--transport", "ws"),
    ]


@pytest.mark.parametrize(("transport", "more"), [("http", ""), ("stdio", " --transport stdio")])
def test_attached_client_is_awaited_again(transport: str, more: str) -> None:
    date = REVISIONS[-1].date
    header = Header(date, transport, ATTACHED, "core.open-house", role="client")
    line = f"assay client --attach --scenario core.open-house --spec-version {date}{more}"
    assert reproduction(Trace(header, []), []) == line


def test_command_with_line_breaks_is_one_line_that_prints_them() -> None:
    sent = '{\n "a": "\\n\u00e9%s\'",\r "b": 1}'
    trace = stdio_trace((">", sent.encode()), ("<", result(1)))
    command = reproduction(trace, [0]).removesuffix(" | by hand")
    assert command.isprintable()
    assert subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout == sent.encode()


@pytest.mark.parametrize(
    ("transport", "target", "line"),
    [
        ("stdio", "python my_server.py", "assay check {} -- python my_server.py"),
        ("http", "http://localhost:1/mcp", "assay check http://localhost:1/mcp {} --transport http"),
    ],
)
def test_messages_too_long_for_a_command_line_are_reproduced_by_their_scenario(
    transport: str, target: str, line: str
) -> None:
    kinds = {
        "stdio": ("1/lines", Kind.LINE, b"{}\n"),
        "http": ("1/post-1", Kind.REQUEST, b"POST / HTTP/1.1\r\n\r\n"),
    }
    channel, kind, begin = kinds[transport]
    frame = Frame(0, 0.0, Sender.DRIVER, channel, kind, begin + b"a" * LONGEST)
    header = Header(REVISIONS[-1].date, transport, target, "robustness.large-opening", closed=True)
    options = f"--scenario robustness.large-opening --spec-version {REVISIONS[-1].date}"
    assert reproduction(Trace(header, [frame]), [0]) == line.format(options)
