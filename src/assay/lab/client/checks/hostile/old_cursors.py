"""Cursors of a session that is over."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "PAG-07"
LIST = "tools/list"


@check("Cursors are not kept across sessions", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    lists = [(call, one) for call in trace.calls for one in call.asked if one.method == LIST]
    given = [(cursor, call.session) for call, _ in lists if (cursor := _given(call)) is not None]
    for call, message in lists:
        # In the first session there is no other whose cursor could be used.
        if call.session is None or call.session == lists[0][0].session:
            continue
        cursor = message.params.get("cursor")
        origins = [session for one, session in given if one == cursor]
        holds = not origins or call.session in origins
        expected, observed = "no cursor of an earlier session", f"cursor {cursor!r}"
        yield observe(ROW, holds, call, expected=expected, observed=observed)


def _given(call: Call) -> str | None:
    found = next((one.result.get("nextCursor") for one in call.messages if one.is_response), None)
    return found if isinstance(found, str) else None
