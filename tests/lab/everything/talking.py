"""Conversations written by hand: what was asked, and what came of it."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.lab.traces import http_trace, request, stdio_trace

Turn = tuple[str, dict[str, Any], dict[str, Any]]
"""Method, parameters, and the answer: an error if it has a code."""


def talk(*turns: Turn, revision: Revision = HANDSHAKE[-1]) -> Trace:
    lines: list[tuple[str, Any]] = []
    for number, (method, params, answer) in enumerate(turns):
        kind = "error" if "code" in answer else "result"
        lines.append((">", request(number, method, **params)))
        lines.append(("<", {"jsonrpc": "2.0", "id": number, kind: answer}))
    return stdio_trace(*lines, revision=revision)


def over_http(*exchanges: tuple[str, bytes, str, bytes], revision: Revision = HANDSHAKE[-1]) -> Trace:
    """Each `(head and headers, body, status and headers, body)`, on a channel of its own.

    A response body that begins with a field of an event stream is taken apart into its events.
    """
    frames: list[tuple[str, str, Kind, bytes]] = []
    for number, (asked, body, head, said) in enumerate(exchanges, 1):
        channel = f"1/{asked.split()[0].lower()}-{number}"
        frames.append((">", channel, Kind.REQUEST, _head(asked) + body))
        frames.append(("<", channel, Kind.HEAD, _head(f"HTTP/1.1 {head}")))
        if "event-stream" in head:
            blocks = [block + b"\n\n" for block in said.split(b"\n\n") if block]
            frames += [("<", channel, Kind.EVENT, block) for block in blocks]
        elif said:
            frames.append(("<", channel, Kind.BODY, said))
        frames.append(("<", channel, Kind.END, b""))
    return http_trace(frames, revision)


def _head(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode() + b"\r\n\r\n"
