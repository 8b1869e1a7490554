"""One line for a shell that shows a finding again: bytes for a pipe, or curl; of a client, its scenario."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from assay.lab.harness.links.http_text import Head, body_of, parse_head
from assay.lab.harness.scripted_server.client import ATTACHED
from assay.lab.harness.transport import Transport

from .frame import Frame, Kind, Sender
from .trace import Trace

_SESSION = "mcp-session-id"
# What curl writes by itself, or what would be wrong for the body as typed.
_OWN = frozenset({"host", "connection", "content-length"})
MOST = 6
"""Lines that are worth piping: before that many, a reader wants the trace."""


def reproduction(trace: Trace, numbers: Sequence[int]) -> str:
    return _visited(trace) if trace.header.role == "client" else _asked(trace, numbers)


def _visited(trace: Trace) -> str:
    """A client can only be let come again."""
    header = trace.header
    is_attached = header.subject == ATTACHED
    who = "--attach" if is_attached else f"--command {shlex.quote(header.subject)}"
    # The command of a stdio client says so itself.
    plain = (Transport.HTTP,) if is_attached else (Transport.HTTP, Transport.STDIO)
    where = "" if header.transport in plain else f" --transport {header.transport}"
    named = f"--scenario {shlex.quote(header.scenario)} --spec-version {header.revision}"
    return f"assay client {who} {named}{where}"


def _asked(trace: Trace, numbers: Sequence[int]) -> str:
    asked = [
        trace.frames[n]
        for n in numbers
        if n < len(trace.frames) and trace.frames[n].sender is Sender.DRIVER and trace.frames[n].raw
    ]
    if not asked:
        return ""
    if trace.transport == Transport.STDIO:
        return _piped(trace, asked[-1])
    if asked[-1].kind is Kind.REQUEST:
        return _curled(trace, asked[-1])
    return ""


def _piped(trace: Trace, last: Frame) -> str:
    before = [
        frame
        for frame in trace.frames[: last.n + 1]
        if frame.kind is Kind.LINE and frame.sender is Sender.DRIVER and frame.connection == last.connection
    ]
    # The handshake, then what led here: the frames between matter rarely.
    chosen = before if len(before) <= MOST else [*before[:2], *before[-(MOST - 2) :]]
    texts = [frame.raw.decode("utf-8", "backslashreplace") for frame in chosen]
    return f"printf {_printed(texts)} | {trace.header.subject}"


def _printed(texts: Sequence[str]) -> str:
    """Arguments of `printf`: on one line of the shell where each text is one line, else just as it was."""
    lines = [text.removesuffix("\n") for text in texts]
    if all(text.endswith("\n") for text in texts) and not any("\n" in line for line in lines):
        return " ".join((r"'%s\n'", *map(shlex.quote, lines)))
    return f"%s {shlex.quote(''.join(texts))}"


def _curled(trace: Trace, last: Frame) -> str:
    head = parse_head(last.raw)
    session = head.get(_SESSION)
    opening = None if session is None else _opening(trace, session)
    call = _curl(trace, head, body_of(last.raw), session if opening else None)
    if opening is None:
        return call
    first = _curl(trace, parse_head(opening.raw), body_of(opening.raw), None, "-o /dev/null -D - ")
    find = "tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip'"
    return f"SESSION=$({first} | {find}); {call}"


def _opening(trace: Trace, session: str) -> Frame | None:
    """The request whose response gave out the session."""
    for call in trace.calls:
        if call.head is not None and call.head.get(_SESSION) == session and call.sent.get(_SESSION) is None:
            return call.request
    return None


def _curl(trace: Trace, head: Head, body: bytes, session: str | None, options: str = "-i ") -> str:
    parts = [f"curl -sN {options}-X {head.method}"]
    for name, value in head.headers:
        if name.lower() == _SESSION and session is not None:
            parts.append('-H "Mcp-Session-Id: $SESSION"')
        elif name.lower() not in _OWN:
            parts.append(f"-H {shlex.quote(f'{name}: {value}')}")
    if body:
        parts.append(f"--data-binary {shlex.quote(body.decode('utf-8', 'backslashreplace'))}")
    return " ".join((*parts, shlex.quote(_url(trace, head))))


def _url(trace: Trace, head: Head) -> str:
    scheme = "https" if trace.header.subject.startswith("https") else "http"
    return f"{scheme}://{head.get('host') or 'localhost'}{head.target}"
