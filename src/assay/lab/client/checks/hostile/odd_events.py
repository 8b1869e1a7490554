"""Event streams that are right, and unusual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from assay.lab.client.evidence import AFTER, calls_of, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "HOSTILE-09"
STYLE: Final = "style"
"""The mark that tells in which way the next stream is unusual."""
LONG: Final = 256 * 1024


def _parted(page: bytes, wrong: bytes) -> bytes:
    """JSON may have a newline after its first brace, and that is what lines of data are joined by."""
    return b"data: {\ndata: " + page[1:] + b"\n\n"


STYLES: Final[Mapping[str, Callable[[bytes, bytes], bytes]]] = {
    "usual": lambda page, wrong: b"event: message\ndata: " + page + b"\n\n",
    "no space": lambda page, wrong: b"data:" + page + b"\n\n",
    "CRLF": lambda page, wrong: b"event: message\r\ndata: " + page + b"\r\n\r\n",
    "CR": lambda page, wrong: b"event: message\rdata: " + page + b"\r\r: more\r",
    "comments": lambda page, wrong: b": one\n:\n:two\ndata: " + page + b"\n: three\n\n",
    "unknown fields": lambda page, wrong: b"colour: red\nplain\nretry: soon\ndata: " + page + b"\n\n",
    "unknown event": lambda page, wrong: b"event: remark\ndata: " + wrong + b"\n\ndata: " + page + b"\n\n",
    "empty events": lambda page, wrong: b"event: message\n\ndata:\n\n\n\ndata: " + page + b"\n\n",
    "several lines": _parted,
    "long comment": lambda page, wrong: b":" + b"x" * LONG + b"\n\ndata: " + page + b"\n\n",
    "CR at the end": lambda page, wrong: b"data: " + page + b"\r\r",
}
"""How a page is written, by the way in which that is unusual; and an answer that is none by the standard."""


@check("Event streams are read as their standard says", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    styles = list(STYLES)
    for mark in trace.marks(STYLE):
        style = str(mark.info.get("style"))
        place = styles.index(style) + 1 if style in styles else len(styles)
        following = styles[place] if place < len(styles) else None
        asked = (one for one in trace.inquiries("tools/list") if one.params.get("cursor") == following)
        heard = list(asked) if following is not None else calls_of(trace, AFTER)
        later = [one for one in heard if one.request.frame.n > mark.n]
        if later or is_over(trace):
            expected, observed = "what follows that page to be asked for", f"the client lost it: {style}"
            yield observe(ROW, bool(later), mark, *later[:1], expected=expected, observed=observed)
