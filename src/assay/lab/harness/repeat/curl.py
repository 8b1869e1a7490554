"""Lines of curl, which repeat HTTP requests in a new session."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Final
from urllib.parse import urlsplit

from assay.lab.harness.links.http_text import Head, body_of
from assay.lab.harness.subject.bearer import BEARER, USUAL
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.recorder import REPLACEMENT
from assay.lab.harness.trace.trace import Call, Trace

from .message_line import MessageLine, cited_frames, is_literal, is_shown
from .section import section
from .shell import as_word, printed
from .variable import VARIABLES

MOST_CALLS: Final = 4
"""Requests of one line, beside those that open a session."""
WAIT: Final = 5
"""Seconds at least for a response that may never end."""
SESSION: Final = "mcp-session-id"
_SET_BY_CURL: Final = frozenset({"host", "connection", "content-length"})
"""curl sets these itself, and their recorded values may not fit the body."""
_ADDED_BY_CURL: Final = ("Accept", "Content-Type")
_RESUMES: Final = "last-event-id"
EXIT: Final = "curl: exit"
"""Printed with the exit status of curl if a response did not end, or did not come."""
_EXTRACT: Final = "tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip'"


class CurlRepeater:
    """Repeats calls of a trace; units are calls."""

    most: Final = MOST_CALLS

    def __init__(self, trace: Trace, numbers: Sequence[int]) -> None:
        self._trace = trace
        cited = cited_frames(trace, numbers)
        channels = {frame.channel for frame in cited}
        self._can_show = is_shown(cited) and channels <= {call.channel for call in trace.calls}
        self._can_show = self._can_show and _is_there(trace)
        self._channels = channels
        self._last = max((frame.n for frame in cited), default=0)
        self._connections = {frame.connection for frame in cited}

    @property
    def cited(self) -> list[Call]:
        return [call for call in self.before if call.channel in self._channels]

    @property
    def before(self) -> list[Call]:
        """The calls that can be repeated, up to the last cited one; without a session, of any connection."""
        if not self._can_show:
            return []
        calls = [call for call in self._trace.calls if call.request.n <= self._last]
        return [call for call in calls if self._is_near(call) and _is_repeatable(self._trace, call)]

    def _is_near(self, call: Call) -> bool:
        return call.session is None or call.request.connection in self._connections

    def is_needed(self, call: Call) -> bool:
        """What the finding cites; the session is opened in any case."""
        return call.channel in self._channels

    def line(self, calls: Sequence[Call]) -> MessageLine | None:
        trace = self._trace
        prelude = _prelude(trace, calls)
        if prelude is None or not _is_sequence([*prelude, *calls]):
            return None
        session = _assigned(prelude)
        frames = [frame for call in prelude for frame in call.frames]
        frames += [frame for call in calls for frame in _without_dialogue(call)]
        steps = [*_opened(trace, prelude), *(_shown(trace, call, session) for call in calls)]
        shown = tuple(call.channel for call in calls)
        return MessageLine("; ".join(steps).removesuffix("; echo"), section(trace, frames), shown)


def _is_there(trace: Trace) -> bool:
    """Whether the address is that of the target: the lab serves Python servers on a free port, and stops
    them. Client certificates are left to the scenario."""
    words = trace.header.again.split()
    return not words or (trace.header.subject in words and not {"--ca", "--client-cert"} & {*words})


def _prelude(trace: Trace, calls: Sequence[Call]) -> list[Call] | None:
    """The requests that open the session of these calls; none if they have no session, and None if they
    have more than one."""
    sessions = {call.session for call in calls if call.session is not None}
    if not sessions:
        return []
    if len(sessions) > 1:
        return None
    (session,) = sessions
    first = next((call for call in trace.calls if _assigns(call, session)), None)
    if first is None:
        return []  # the driver made it up
    before = [call for call in trace.calls if call.request.n < min(each.request.n for each in calls)]
    ready = next((call for call in before if call.session == session and _is_ready(call)), None)
    return [first, *([ready] if ready is not None and ready not in calls else [])]


def _assigns(call: Call, session: str) -> bool:
    return call.session is None and call.head is not None and call.head.get(SESSION) == session


def _assigned(prelude: Sequence[Call]) -> str | None:
    return prelude[0].head.get(SESSION) if prelude and prelude[0].head is not None else None


def _is_ready(call: Call) -> bool:
    return any(message.method == "notifications/initialized" for message in call.request_messages)


def _is_sequence(calls: Sequence[Call]) -> bool:
    """Whether each response ended before the next request: curl sends one after another."""
    ordered = sorted(calls, key=lambda call: call.request.n)
    return all(_end(call) < following.request.n for call, following in pairwise(ordered))


def _end(call: Call) -> float:
    return next((frame.n for frame in call.received if frame.kind is Kind.END), float("inf"))


def _is_repeatable(trace: Trace, call: Call) -> bool:
    can_be_written = _is_plain(call) and _token(trace, call) is not None and not _has_secret(call)
    return can_be_written and is_literal(trace, call.request_messages, body_of(call.request.raw))


def _has_secret(call: Call) -> bool:
    """Whether a credential is elsewhere than in its own header."""
    others = [value for name, value in call.sent.headers if name.lower() != "authorization"]
    return any(REPLACEMENT.decode() in text for text in (call.sent.target, *others))


def _is_plain(call: Call) -> bool:
    """Whether curl can write this head."""
    head = call.sent
    names = all(name and name.replace("-", "").replace("_", "").isalnum() for name, _ in head.headers)
    written = head.start[2] == "HTTP/1.1" and head.target.startswith("/") and head.method.isalpha()
    whole = call.request.raw.partition(b"\r\n\r\n")[0].count(b"\r\n") == len(head.headers)
    return names and written and whole and "at" not in call.request.info and head.get(_RESUMES) is None


def _token(trace: Trace, call: Call) -> str | None:
    """The variable with the token of a call; empty if it has none, None if a shell cannot have it."""
    if call.sent.get("authorization") != REPLACEMENT.decode():
        return ""
    marks = [mark for mark in trace.marks(BEARER) if mark.connection == call.request.connection]
    kind = str(marks[-1].info.get("shows")) if marks else USUAL
    return VARIABLES.get(kind)


def _without_dialogue(call: Call) -> list[Frame]:
    """The frames of a call up to the first question of the server, which curl does not answer."""
    questions = [message.frame.n for message in call.messages if message.method and "id" in message.fields]
    return [frame for frame in call.frames if not questions or frame.n <= questions[0]]


def _opened(trace: Trace, prelude: Sequence[Call]) -> Iterator[str]:
    if not prelude:
        return
    first, *others = prelude
    yield f"SESSION=$({_curl(trace, first, None, '-o /dev/null -D -')} | {_EXTRACT})"
    yield from (_curl(trace, call, call.session, "-o /dev/null") for call in others)


def _shown(trace: Trace, call: Call, session: str | None) -> str:
    # A response may have ended only because of what the driver did, such as a cancellation, and where the
    # fault is that a stream was refused, it opens once the fault is fixed.
    limit = max(WAIT, ceil(2 * (call.frames[-1].t - call.request.t)))
    return f"{_curl(trace, call, session, f'-m {limit} -i')} || printf '\\n({EXIT} %s)' $?; echo"


def _curl(trace: Trace, call: Call, session: str | None, options: str) -> str:
    head, body = call.sent, body_of(call.request.raw)
    method = "-I" if head.method == "HEAD" else f"-X {head.method}"
    words = [f"curl -sN {options} {method}", *_headers(trace, call, session)]
    word = as_word(body)
    if body:
        words.append(f"--data-binary {'@-' if word is None else word}")
    words.append(shlex.quote(_url(trace, head)))
    line = " ".join(words)
    return f"{printed([body])} | {line}" if word is None else line


def _headers(trace: Trace, call: Call, session: str | None) -> Iterator[str]:
    head = call.sent
    base = urlsplit(trace.header.subject).netloc
    if (host := head.get("host")) not in (None, base):
        yield f"-H {shlex.quote(f'Host: {host}')}"
    for name, value in head.headers:
        if name.lower() == SESSION and session is not None and value == session:
            yield '-H "Mcp-Session-Id: $SESSION"'
        elif name.lower() == "authorization" and (token := _token(trace, call)):
            yield f'-H "Authorization: Bearer ${token}"'
        elif name.lower() not in _SET_BY_CURL:
            text = value.encode("latin-1").decode("utf-8", "replace")
            yield f"-H {shlex.quote(f'{name}: {text}' if text else f'{name};')}"
    missing = [name for name in _ADDED_BY_CURL if head.get(name) is None]
    yield from (f"-H {name}:" for name in missing if name == "Accept" or body_of(call.request.raw))


def _url(trace: Trace, head: Head) -> str:
    parts = urlsplit(trace.header.subject)
    return f"{parts.scheme}://{parts.netloc}{head.target}"
