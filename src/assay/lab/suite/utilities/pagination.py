"""Pagination of lists: stable cursors, and cursors that were never issued."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_reply,
    on_request,
    on_result,
    scenario,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import Need
from assay.lab.harness.sabotage.saboteur import LocalAnswer, params_of
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Exchange, Probe
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS

# --- what is asked


MAX_PAGES: Final = 10
A_LIST: Final = Need(
    lambda facts: any(capability in facts.capabilities for capability, *_ in LISTS), "has nothing to list"
)


CURSORS: Final = Need(lambda facts: facts.cursors, "gives out no cursors: each list has one page")


@scenario(
    "Read every list page by page, and with an unknown cursor",
    exercises=("utilities.pages", "utilities.bad-cursor"),
    needs=(A_LIST, CURSORS),
)
async def drive_pages(stage: Stage) -> None:
    peer = await stage.open()
    for capability, method, *_ in LISTS:
        if capability in stage.facts.capabilities:
            async with peer.probe("bad cursor", method=method):
                await peer.request(method, {"cursor": "a cursor of the lab's own"})
            cursors = await _walk(peer, method)
            for params in ({}, *({"cursor": cursor} for cursor in cursors)) if cursors else ():
                await peer.request(method, params)


async def _walk(peer: Peer, method: str) -> list[str]:
    """Read the pages until the last, or one that was read before; returns their cursors."""
    cursors: list[str] = []
    params: dict[str, str] = {}
    for _ in range(MAX_PAGES):
        cursor = (await peer.request(method, params)).result.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors:
            break
        cursors.append(cursor)
        params = {"cursor": cursor}
    return cursors


# --- how it is judged


NAMES: Final = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""The key of each list, and the key that identifies its items."""


@check("Cursors are stable", requirements=("PAG-02",))
def judge_pages(trace: Trace) -> Iterator[Observation]:
    for method in NAMES:
        exchanges = [exchange for exchange in trace.exchanges(method) if exchange.answer is not None]
        issued = {_next_cursor(exchange) for exchange in exchanges} - {None}
        pages: dict[str | None, Exchange] = {}
        for exchange in exchanges:
            cursor = exchange.params.get("cursor")
            if issued and (cursor is None or (isinstance(cursor, str) and cursor in issued)):
                earlier = pages.setdefault(cursor, exchange)
                yield _judge_new(exchange, pages) if earlier is exchange else _judge_again(exchange, earlier)


def _judge_new(exchange: Exchange, pages: Mapping[str | None, Exchange]) -> Observation:
    before = set[str]().union(*(_names(page) for page in pages.values() if page is not exchange))
    repeated = ", ".join(sorted(before & _names(exchange)))
    cursor = _next_cursor(exchange)
    circular = cursor is not None and cursor in pages
    return observe(
        "PAG-02",
        exchange.result is not None and not repeated and not circular,
        exchange,
        expected="a page without items of earlier pages, whose cursor does not lead back to them",
        observed=repeated or ("the cursor of an earlier page" if circular else exchange),
    )


def _judge_again(exchange: Exchange, earlier: Exchange) -> Observation:
    """The list may have changed meanwhile, so the pages must only have an item in common."""
    differs = bool(_names(earlier)) and _names(earlier).isdisjoint(_names(exchange))
    same, expected = exchange.result is not None and not differs, "the same page for the same cursor"
    return observe("PAG-02", same, earlier, exchange, expected=expected, observed=exchange)


def _next_cursor(exchange: Exchange) -> str | None:
    cursor = (exchange.result or {}).get("nextCursor")
    return cursor if isinstance(cursor, str) else None


def _names(exchange: Exchange) -> set[str]:
    key, name = NAMES[exchange.method]
    return {str(item[name]) for item in exchange.objects(key) if name in item}


@check("The pages of a list belong together", requirements=("PAG-02",), everywhere=True)
def judge_one_pass(trace: Trace) -> Iterator[Observation]:
    changed = [message.frame.n for message in trace.received if message.method.endswith("/list_changed")]
    for method, (key, _) in NAMES.items():
        for listing in listings(trace, method, key):
            first, last = listing.frames[0].n, listing.frames[-1].n
            # A list that changes while it is read may repeat items.
            if len(listing.pages) > 1 and not any(first < n < last for n in changed):
                problem = _pass_problem(listing)
                expected = "pages without items of earlier pages, and a page for every cursor"
                yield observe("PAG-02", problem is None, listing, expected=expected, observed=problem)


def _pass_problem(listing: Listing) -> str | None:
    """How the pages disagree that were read one after another."""
    names: set[str] = set()
    cursor: str | None = None
    for page in listing.pages:
        follows = page.params.get("cursor") == cursor
        if not follows or page.answer is None:
            return None
        if page.result is None:
            return f"the cursor of the page before got {page.answer}"
        if repeated := ", ".join(sorted(names & _names(page))):
            return f"{repeated} on two pages"
        if (following := _next_cursor(page)) is not None and following == cursor:
            return "a page whose cursor leads to itself"
        names |= _names(page)
        cursor = following
    return None


@check("A cursor that was never issued gets -32602", requirements=("PAG-03",))
def judge_bad_cursor(trace: Trace) -> Iterator[Observation]:
    # One observation for all lists, since they usually share the code and its faults.
    probes = [probe for probe in trace.probes("bad cursor") if probe.answers and _has_cursors(probe, trace)]
    accepted = [probe for probe in probes if probe.answers[0].code != INVALID_PARAMS]
    if probes:
        evidence, expected = accepted[:1] or probes, f"error {INVALID_PARAMS}"
        observed = "; ".join(f"{probe.info.get('method')}: {probe.answers[0]}" for probe in accepted)
        yield observe("PAG-03", not accepted, *evidence, expected=expected, observed=observed)


def _has_cursors(probe: Probe, trace: Trace) -> bool:
    """Whether the server gives out cursors for the list. A list of one page has no cursor to be wrong."""
    method = probe.info.get("method")
    return isinstance(method, str) and any(
        _next_cursor(exchange) is not None and "cursor" not in exchange.params
        for exchange in trace.exchanges(method)
    )


# --- what the checks must catch


@on_request("accepts a cursor only once", breaks="PAG-02")
def cursor_used_up(message: Json, context: FaultContext) -> Json | LocalAnswer:
    cursor = params_of(message).get("cursor")
    used = context.memory.setdefault("used", [])
    if cursor is None or cursor not in used:
        used.append(cursor)
        return message
    return LocalAnswer([error_reply(message, INVALID_PARAMS, "cursor expired")])


@on_result("sends a list that never ends", breaks="PAG-02", method="tools/list")
def pages_in_a_circle(result: Json, context: FaultContext) -> None:
    if "cursor" in context.params:
        result.setdefault("nextCursor", context.params["cursor"])


@on_result("repeats an item of the page before", breaks="PAG-02", method="tools/list")
def pages_overlap(result: Json, context: FaultContext) -> None:
    tools = result["tools"]
    if "cursor" in context.params and "last" in context.memory:
        tools.insert(0, context.memory["last"])
    context.memory["last"] = tools[-1]


@on_reply("refuses an invalid cursor with -32603", breaks="PAG-03")
def bad_cursor_fails(reply: Json, context: FaultContext) -> Json:
    if "cursor" in context.params and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_request("answers an invalid cursor with the first page", breaks="PAG-03")
def cursor_not_read(message: Json, context: FaultContext) -> Json:
    if str(message.get("method")).endswith("/list"):
        params_of(message).pop("cursor", None)
    return message


@on_reply("refuses the cursor that it gave out", breaks="PAG-02", scenario="tools.definitions")
def cursor_refused(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        if "cursor" in context.params:
            return error_reply(reply, INVALID_PARAMS, "Unknown cursor")
        reply["result"]["nextCursor"] = "page-2"
    return reply


@on_request("sends the first page for every cursor", breaks="PAG-02", scenario="tools.definitions")
def one_page_for_all(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/list":
        params_of(message).pop("cursor", None)
    return message
