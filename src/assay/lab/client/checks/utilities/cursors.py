"""Lists are read with the cursors that they come with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.evidence import is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

SIZE, OPAQUE, EMPTY = "PAG-01", "PAG-06", "PAG-08"
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


@check("Pages are followed by their cursors, as they are", rows=(SIZE, OPAQUE, EMPTY))
def judge(trace: Trace) -> Iterator[Observation]:
    for method in LISTS:
        pages = list(trace.inquiries(method))
        yield from _followed(pages, trace)
        yield from _known(pages)


def _followed(pages: list[Exchange], trace: Trace) -> Iterator[Observation]:
    for page in pages:
        cursor = _next(page)
        if cursor is None:
            continue
        later = [one for one in pages if one.request.frame.n > page.request.frame.n]
        next_page = next((one for one in later if one.params.get("cursor") == cursor), None)
        if next_page is None and not is_over(trace):
            continue
        row = SIZE if cursor else EMPTY
        seen = [] if next_page is None else [next_page]
        expected = f"a request with the cursor {cursor!r}"
        yield observe(row, next_page is not None, page, *seen, expected=expected, observed="none such")


def _known(pages: list[Exchange]) -> Iterator[Observation]:
    given: list[Any] = []
    for page in pages:
        if "cursor" in page.params:
            cursor = page.params["cursor"]
            expected = "a cursor as the server gave it"
            yield observe(OPAQUE, cursor in given, page, expected=expected, observed=f"cursor {cursor!r}")
        given.append(_next(page))


def _next(page: Exchange) -> str | None:
    cursor = (page.result or {}).get("nextCursor")
    return cursor if isinstance(cursor, str) else None
