"""After `logging/setLevel`, what is less severe is not sent."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.log_level import severity
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.order import is_later
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe


@check("Only the level that was set, and above", rows=("LOG-02",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        level = severity(message.params.get("level"))
        if message.method != "notifications/message" or level is None:
            continue
        setting = _in_force(message, trace)
        least = None if setting is None else severity(setting.params.get("level"))
        if setting is not None and least is not None:
            yield observe(
                "LOG-02",
                level >= least,
                setting,
                message,
                expected=f"nothing below {setting.params['level']}",
                observed=f"a message of level {message.params['level']}",
            )


def _in_force(message: Message, trace: Trace) -> Exchange | None:
    """The setting that a message surely came after; none where that is open."""
    settings = [
        one
        for one in trace.exchanges("logging/setLevel")
        if one.request.frame.connection == message.frame.connection
        and one.request.frame.n < message.frame.n
        and (one.result is not None or one.answer is None)
    ]
    if not settings or not _is_remembered(settings[-1]):
        return None
    answer = settings[-1].answer
    return settings[-1] if answer is not None and is_later(message, answer, trace) else None


def _is_remembered(setting: Exchange) -> bool:
    """Over HTTP without a session, nothing that a client sets can outlive its request."""
    frame = setting.request.frame
    return frame.kind is not Kind.REQUEST or parse_head(frame.raw).get("mcp-session-id") is not None
