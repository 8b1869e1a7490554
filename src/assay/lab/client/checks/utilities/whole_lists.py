"""Lists on one page, and on several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

END, BOTH, PROMPTS = "PAG-04", "PAG-05", "PR-13"
PROMPT_LIST: Final = "prompts/list"
LISTS: Final = ("resources/list", "resources/templates/list", PROMPT_LIST)


@check("Lists are read to their end, and no further", rows=(END, BOTH, PROMPTS))
def judge(trace: Trace) -> Iterator[Observation]:
    for method in LISTS:
        asked = list(trace.inquiries(method))
        pages = [one for one in asked if one.result is not None]
        for page in pages:
            yield from _end(page, asked) if _next(page) is None else _more(page, asked, trace)
        if pages:
            yield from _went_on(pages[-1], trace)


def _end(page: Exchange, pages: list[Exchange]) -> Iterator[Observation]:
    """Nothing follows the last page but what is read again, under cursors that were given."""
    given = [_next(one) for one in pages]
    later = [one for one in pages if one.request.frame.n > page.request.frame.n]
    past = [one for one in later if one.params.get("cursor") not in (None, *given)]
    expected, observed = "no page after the last one", "one more was asked for"
    yield observe(END, not past, page, *past[:1], expected=expected, observed=observed)


def _more(page: Exchange, pages: list[Exchange], trace: Trace) -> Iterator[Observation]:
    later = [one for one in pages if one.params.get("cursor") == _next(page)]
    if page.method == PROMPT_LIST and (later or is_over(trace)):
        expected, observed = "the next page of prompts", "nobody asked for it"
        yield observe(PROMPTS, bool(later), page, *later[:1], expected=expected, observed=observed)


def _went_on(page: Exchange, trace: Trace) -> Iterator[Observation]:
    """Whether a list that was read was of use: something else is asked for then."""
    later = [one for one in trace.inquiries() if one.request.frame.n > page.request.frame.n]
    if later or is_over(trace):
        expected, observed = "the client to go on with what it has read", "it did not"
        yield observe(BOTH, bool(later), page, *later[:1], expected=expected, observed=observed)


def _next(page: Exchange) -> object:
    return (page.result or {}).get("nextCursor")
