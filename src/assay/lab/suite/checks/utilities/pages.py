"""Cursors are stable: they can be used again, lead to an end, and no page repeats another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}


@check("Cursors are stable", rows=("PAG-02",))
def judge(trace: Trace) -> Iterator[Observation]:
    for method in LISTS:
        exchanges = [one for one in trace.exchanges(method) if one.answer is not None]
        issued = [cursor for one in exchanges if (cursor := _onward(one)) is not None]
        pages: dict[str | None, Exchange] = {}
        for exchange in exchanges:
            cursor = exchange.params.get("cursor")
            if issued and (cursor is None or cursor in issued):
                earlier = pages.setdefault(cursor, exchange)
                yield _new(exchange, pages) if earlier is exchange else _again(exchange, earlier)


def _new(exchange: Exchange, pages: Mapping[str | None, Exchange]) -> Observation:
    before = set[str]().union(*(_names(page) for page in pages.values() if page is not exchange))
    twice = sorted(before & _names(exchange))
    back = _onward(exchange) in pages if _onward(exchange) is not None else False
    return observe(
        "PAG-02",
        exchange.result is not None and not twice and not back,
        exchange,
        expected="what comes after the pages before, and no way back to them",
        observed=", ".join(twice) or ("the cursor of a page before" if back else exchange),
    )


def _again(exchange: Exchange, earlier: Exchange) -> Observation:
    """The list may have changed meanwhile: so pages need not be equal, but must have something in common."""
    another = bool(_names(earlier)) and _names(earlier).isdisjoint(_names(exchange))
    return observe(
        "PAG-02",
        exchange.result is not None and not another,
        earlier,
        exchange,
        expected="the same page for the same cursor",
        observed=exchange,
    )


def _onward(exchange: Exchange) -> str | None:
    cursor = (exchange.result or {}).get("nextCursor")
    return cursor if isinstance(cursor, str) else None


def _names(exchange: Exchange) -> set[str]:
    key, name = LISTS[exchange.method]
    return {str(item[name]) for item in exchange.objects(key) if name in item}
