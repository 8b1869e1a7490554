"""What a report shows beside a finding: excerpts of its frames, and a shell command that reproduces it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from assay.lab.harness.links.http_text import Head, body_of, parse_head
from assay.lab.harness.scripted_server.client import ATTACHED
from assay.lab.harness.transport import Transport

from .frame import Frame, Kind, Sender
from .trace import Trace

WIDTH = 400
MOST = 8
_ARROWS = {Sender.DRIVER: "→", Sender.SUBJECT: "←"}
_SESSION = "mcp-session-id"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# curl sets these itself, and their recorded values may not fit the body.
_SET_BY_CURL = frozenset({"host", "connection", "content-length"})
LONGEST = 100_000
"""Characters of a command. Systems limit an argument, Linux to 128 KiB."""
MOST_LINES = 6
"""Lines to pipe at most; beyond that the trace is easier to read."""


def excerpts(trace: Trace, numbers: Iterable[int]) -> list[str]:
    frames = [trace.frames[n] for n in numbers if n < len(trace.frames)]
    return [excerpt(frame) for frame in _selection(frames)]


def _selection(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The first frames; if there are too many, lines on standard error are left out."""
    if len(frames) > MOST:
        frames = [frame for frame in frames if frame.kind is not Kind.ERRORS] or frames
    return frames[:MOST]


def excerpt(frame: Frame) -> str:
    arrow = _ARROWS[frame.sender]
    return f"{arrow} #{frame.n} {frame.channel} {frame.kind}: {_text(frame)}"


def _text(frame: Frame) -> str:
    if frame.kind in (Kind.MARK, Kind.EXIT, Kind.END, Kind.CONTROL) and frame.info:
        return " ".join(f"{key}={value}" for key, value in frame.info.items())
    text = frame.raw.decode("utf-8", "backslashreplace").strip()
    flat = text.replace("\r\n", " ⏎ ").replace("\n", " ⏎ ")
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]} … ({len(frame.raw)} bytes)"


def reproduction(trace: Trace, numbers: Sequence[int]) -> str:
    return _client_command(trace) if trace.header.role == "client" else _server_command(trace, numbers)


def _client_command(trace: Trace) -> str:
    """A client can only be reproduced by running its scenario again."""
    header = trace.header
    is_attached = header.subject == ATTACHED
    target = "--attach" if is_attached else f"--command {shlex.quote(header.subject)}"
    # The command of a stdio client implies the transport.
    implied = (Transport.HTTP,) if is_attached else (Transport.HTTP, Transport.STDIO)
    transport = "" if header.transport in implied else f" --transport {header.transport}"
    scenario = f"--scenario {shlex.quote(header.scenario)} --spec-version {header.revision}"
    return f"assay client {target} {scenario}{transport}"


def _server_command(trace: Trace, numbers: Sequence[int]) -> str:
    frames = [trace.frames[n] for n in numbers if n < len(trace.frames)]
    last = next((frame for frame in reversed(frames) if frame.sender is Sender.DRIVER and frame.raw), None)
    if last is None:
        return ""
    if trace.transport == Transport.STDIO:
        command = _printf_command(trace, last)
    else:
        command = _curl_commands(trace, last) if last.kind is Kind.REQUEST else ""
    return command if len(command) <= LONGEST else _scenario_command(trace)


def _scenario_command(trace: Trace) -> str:
    """The scenario again, if its messages are too long for a command line."""
    header = trace.header
    options = f"--scenario {shlex.quote(header.scenario)} --spec-version {header.revision}"
    if trace.transport == Transport.STDIO:
        return f"assay check {options} -- {header.subject}"
    return f"assay check {shlex.quote(header.subject)} {options} --transport {trace.transport}"


def _printf_command(trace: Trace, last: Frame) -> str:
    before = [
        frame
        for frame in trace.frames[: last.n + 1]
        if frame.kind is Kind.LINE and frame.sender is Sender.DRIVER and frame.connection == last.connection
    ]
    # The handshake and the latest frames; those in between rarely matter.
    chosen = before if len(before) <= MOST_LINES else [*before[:2], *before[-(MOST_LINES - 2) :]]
    texts = [frame.raw.decode("utf-8", "backslashreplace") for frame in chosen]
    return f"printf {_printf_arguments(texts)} | {trace.header.subject}"


def _printf_arguments(texts: Sequence[str]) -> str:
    """One argument per text if each is a single line, else all texts with line breaks escaped: reports show
    a command in one line."""
    lines = [text.removesuffix("\n") for text in texts]
    if all(text.endswith("\n") for text in texts) and not any("\n" in line for line in lines):
        return " ".join((r"'%s\n'", *map(shlex.quote, lines)))
    whole = "".join(texts)
    if whole.isprintable():
        return f"%s {shlex.quote(whole)}"
    escaped = whole.replace("\\", "\\\\").replace("\n", "\\n")
    return f"%b {shlex.quote(_CONTROL.sub(lambda match: f'{chr(92)}{ord(match[0]):04o}', escaped))}"


def _curl_commands(trace: Trace, last: Frame) -> str:
    head = parse_head(last.raw)
    session = head.get(_SESSION)
    opening = None if session is None else _opening(trace, session)
    call = _curl(trace, head, body_of(last.raw), session if opening else None)
    if opening is None:
        return call
    first = _curl(trace, parse_head(opening.raw), body_of(opening.raw), None, "-o /dev/null -D - ")
    extract = "tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip'"
    return f"SESSION=$({first} | {extract}); {call}"


def _opening(trace: Trace, session: str) -> Frame | None:
    """The request whose response assigned the session id."""
    for call in trace.calls:
        if call.head is not None and call.head.get(_SESSION) == session and call.sent.get(_SESSION) is None:
            return call.request
    return None


def _curl(trace: Trace, head: Head, body: bytes, session: str | None, options: str = "-i ") -> str:
    parts = [f"curl -sN {options}-X {head.method}"]
    for name, value in head.headers:
        if name.lower() == _SESSION and session is not None:
            parts.append('-H "Mcp-Session-Id: $SESSION"')
        elif name.lower() not in _SET_BY_CURL:
            parts.append(f"-H {shlex.quote(f'{name}: {value}')}")
    if body:
        parts.append(f"--data-binary {shlex.quote(body.decode('utf-8', 'backslashreplace'))}")
    return " ".join((*parts, shlex.quote(_url(trace, head))))


def _url(trace: Trace, head: Head) -> str:
    scheme = "https" if trace.header.subject.startswith("https") else "http"
    return f"{scheme}://{head.get('host') or 'localhost'}{head.target}"
