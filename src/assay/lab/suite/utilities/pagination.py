"""Pages of lists, and cursors that no page has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
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
from assay.lab.harness.trace.trace import Exchange, Probe
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS

# --- what is asked


MOST = 10
"""Pages of one list: a longer one shows the same."""
A_LIST = Need(
    lambda facts: any(capability in facts.capabilities for capability, *_ in LISTS), "has nothing to list"
)


@scenario("Lists in pages", exercises=("utilities.pages", "utilities.bad-cursor"), needs=(A_LIST,))
async def drive_pages(stage: Stage) -> None:
    peer = await stage.open()
    for capability, method, *_ in LISTS:
        if capability in stage.facts.capabilities:
            async with peer.probe("bad cursor", method=method):
                await peer.request(method, {"cursor": "a cursor of the lab's own"})
            cursors = await _walk(peer, method)
            for cursor in (None, *cursors) if cursors else ():
                await peer.request(method, {"cursor": cursor} if cursor is not None else {})


async def _walk(peer: Peer, method: str) -> list[str]:
    """From the first page to the last, or round in a circle; the cursors on the way."""
    cursors: list[str] = []
    params: dict[str, str] = {}
    for _ in range(MOST):
        cursor = (await peer.request(method, params)).result.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors:
            break
        cursors.append(cursor)
        params = {"cursor": cursor}
    return cursors


# --- how it is judged


PAGES_LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}


@check("Cursors are stable", requirements=("PAG-02",))
def judge_pages(trace: Trace) -> Iterator[Observation]:
    for method in PAGES_LISTS:
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
    key, name = PAGES_LISTS[exchange.method]
    return {str(item[name]) for item in exchange.objects(key) if name in item}


@check("A cursor that was never given out gets -32602", requirements=("PAG-03",))
def judge_bad_cursor(trace: Trace) -> Iterator[Observation]:
    # One observation for all lists: they share their pagination, and so its fault.
    tried = [one for one in trace.probes("bad cursor") if one.answers and _is_listed(one, trace)]
    taken = [one for one in tried if one.answers[0].code != INVALID_PARAMS]
    if tried:
        yield observe(
            "PAG-03",
            not taken,
            *taken[:1] or tried,
            expected=f"error {INVALID_PARAMS}",
            observed="; ".join(f"{one.info.get('method')}: {one.answers[0]}" for one in taken),
        )


def _is_listed(probe: Probe, trace: Trace) -> bool:
    """The control: without a cursor the list is there."""
    method = probe.info.get("method")
    return isinstance(method, str) and any(
        one.result is not None and "cursor" not in one.params for one in trace.exchanges(method)
    )


# --- what the checks must catch


@on_request("a cursor works once", breaks="PAG-02")
def cursor_used_up(message: Json, context: FaultContext) -> Json | LocalAnswer:
    cursor = params_of(message).get("cursor")
    used = context.memory.setdefault("used", [])
    if cursor is None or cursor not in used:
        used.append(cursor)
        return message
    error = {"code": INVALID_PARAMS, "message": "cursor expired"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_reply("a list that never ends", breaks="PAG-02")
def pages_in_a_circle(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply and "cursor" in context.params:
        reply["result"].setdefault("nextCursor", context.params["cursor"])
    return reply


@on_result("a page repeats something of the page before", breaks="PAG-02", method="tools/list")
def pages_overlap(result: Json, context: FaultContext) -> None:
    tools = result["tools"]
    if "cursor" in context.params and "last" in context.memory:
        tools.insert(0, context.memory["last"])
    context.memory["last"] = tools[-1]


@on_reply("an invalid cursor gets -32603", breaks="PAG-03")
def bad_cursor_fails(reply: Json, context: FaultContext) -> Json:
    if "cursor" in context.params and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_request("an invalid cursor gives the first page", breaks="PAG-03")
def cursor_not_read(message: Json, context: FaultContext) -> Json:
    if str(message.get("method")).endswith("/list"):
        params_of(message).pop("cursor", None)
    return message
