"""What a server declares and lists is served, before and after use, with the status of a result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Response,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_reply,
    on_response,
    scenario,
)
from assay.lab.harness.driver.argument import prompt_arguments
from assay.lab.harness.driver.choice import steady_tools, uris_of
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.sabotage.saboteur import newest_of_each_kind
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.listing import declaration, listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.self_description import as_object, is_usual
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from assay.revisions.revision import Opening

# --- what is asked


@scenario(
    "Declarations and lists before and after use, on two connections",
    exercises=(
        "agreement.declared-lists",
        "agreement.listed-served",
        "agreement.same-declaration",
        "agreement.result-status",
    ),
)
async def drive_use(stage: Stage) -> None:
    first, second = await stage.open(), await stage.open()
    for peer in (first, first, second, first):
        await _read_declarations(peer, stage)
        await _use(peer, stage.facts)


async def _read_declarations(peer: Peer, stage: Stage) -> None:
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    for capability, method, key, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.pages(method, key)


OF_EACH_KIND: Final = 2


async def _use(peer: Peer, facts: Facts) -> None:
    for uri in uris_of(facts)[:OF_EACH_KIND]:
        await peer.request("resources/read", {"uri": uri})
    for prompt in facts.prompts[:OF_EACH_KIND]:
        params = {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)}
        await peer.request("prompts/get", params)
    for tool in steady_tools(facts)[:OF_EACH_KIND]:
        await peer.call(tool, facts.arguments_for(tool))


# --- how it is judged


DECLARED: Final = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources"}


@check("The lists of a declared capability are implemented", requirements=("AGREE-01",), everywhere=True)
def judge_declared_lists(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for method, capability in DECLARED.items() if declared is not None else ():
        for exchange in trace.exchanges(method):
            usual = exchange.answer is not None and is_usual(exchange, trace)
            if declared is not None and declared.has(capability) and usual:
                expected = f"a list from a server that declares `{capability}`"
                implemented = exchange.code != METHOD_NOT_FOUND
                yield observe(
                    "AGREE-01", implemented, declared, exchange, expected=expected, observed=exchange
                )


class Listed(Struct, frozen=True):
    """A kind of listed item, and how it is requested."""

    method: str
    key: str
    name: str
    refusal: re.Pattern[str]
    """Matches the text of an error about an unknown item."""


def _refusal(noun: str) -> re.Pattern[str]:
    unknown = r"(unknown|not found|not registered|does ?n[o']t exist|no such)"
    return re.compile(rf"\b{unknown} {noun}\b|\b{noun}\b[^.]{{0,200}}?\b{unknown}\b", re.IGNORECASE)


KINDS: Final = {
    "tools/call": Listed("tools/list", "tools", "name", _refusal("tool")),
    "prompts/get": Listed("prompts/list", "prompts", "name", _refusal("prompt")),
    "resources/read": Listed("resources/list", "resources", "uri", _refusal("resource")),
}
UNKNOWN: Final = frozenset({METHOD_NOT_FOUND, RESOURCE_NOT_FOUND})


@check("What a list names is served", requirements=("AGREE-02",), everywhere=True, history=True)
def judge_listed_served(trace: Trace) -> Iterator[Observation]:
    for method, kind in KINDS.items():
        requests = [each for each in trace.exchanges(method) if each.answer is not None]
        listed = _always_listed(trace, kind) if requests else frozenset[str]()
        for exchange in requests:
            name = exchange.params.get(kind.name)
            asks_for_task = "task" in exchange.params  # which a tool may refuse with -32601
            usual = is_usual(exchange, trace) and not asks_for_task
            if isinstance(name, str) and name in listed and usual:
                served = not _is_refused_as_unknown(exchange, kind)
                expected = f"{name!r} to be known, since `{kind.method}` names it"
                yield observe("AGREE-02", served, exchange, expected=expected, observed=exchange)


def _always_listed(trace: Trace, kind: Listed) -> frozenset[str]:
    """Names in every complete list of the trace: items may come and go."""
    complete = [each.items for each in listings(trace, kind.method, kind.key) if each.complete]
    names = [{str(item.get(kind.name)) for item in items if not _needs_task(item)} for items in complete]
    return frozenset(set.intersection(*names)) if names else frozenset()


def _needs_task(tool: dict[str, Any]) -> bool:
    """Whether a tool can only be called as a task; other calls get -32601."""
    return as_object(tool.get("execution")).get("taskSupport") == "required"


def _is_refused_as_unknown(exchange: Exchange, kind: Listed) -> bool:
    if exchange.answer is None or exchange.result is not None:
        return False
    text = exchange.answer.error.get("message")
    return exchange.code in UNKNOWN or (isinstance(text, str) and kind.refusal.search(text) is not None)


@check("A result has HTTP status 200", requirements=("AGREE-05",), everywhere=True, transports=HTTP_ONLY)
def judge_result_status(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        answer, head = exchange.answer, exchange.head
        if answer is None or head is None or "result" not in answer.fields:
            continue
        # An answer on another channel is on a stream that resumes the response.
        if answer.frame.channel == exchange.request.frame.channel:
            observed = f"a result with HTTP {head.status}"
            expected = "HTTP 200 for a result"
            yield observe("AGREE-05", head.status == 200, exchange, expected=expected, observed=observed)


# --- what the checks must catch


def _list_missing(method: str, capability: str) -> Any:
    def change(reply: Json, context: FaultContext) -> Json:
        return error_reply(reply, METHOD_NOT_FOUND, "Method not found") if context.method == method else reply

    fault = f"declares {capability} and does not implement {method}"
    return on_reply(fault, id=f"agreement.no-{capability}-list", breaks="AGREE-01")(change)


NO_LISTS: Final = tuple(_list_missing(*row) for row in DECLARED.items())


@on_reply("lists a tool that it does not know", breaks="AGREE-02", scenario="agreement.use")
def forgets_tools(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call":
        return reply
    return error_reply(reply, INVALID_PARAMS, f"Unknown tool: {context.params.get('name')}")


@on_reply("refuses to get the prompts that it lists", breaks="AGREE-02", scenario="agreement.use")
def forgets_prompts(reply: Json, context: FaultContext) -> Json:
    if context.method != "prompts/get":
        return reply
    return error_reply(reply, INVALID_PARAMS, f"Prompt {context.params.get('name')} not found")


@on_reply(
    "cannot find the resources that it lists",
    breaks="AGREE-02",
    scenario="resources.reading",
)
def forgets_resources(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "resources/read":
        return [reply]
    return [error_reply(reply, INVALID_PARAMS, f"Resource not found: {context.params.get('uri')}")]


@on_reply("cannot find a resource after it was read once", breaks="AGREE-02", scenario="agreement.use")
def reads_once(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or context.memory.setdefault(str(uri), reply["id"]) == reply["id"]:
        return reply
    return error_reply(reply, RESOURCE_NOT_FOUND, "Resource not found")


@on_response("sends results with HTTP 500", breaks="AGREE-05")
def results_with_500(response: Response, context: FaultContext) -> None:
    if response.status == 200 and context.call is not None and b'"tools/list"' in context.call.body:
        response.status = 500


@on_response("sends results with HTTP 201", breaks="AGREE-05", window=newest_of_each_kind)
def results_with_201(response: Response, context: FaultContext) -> None:
    if response.status == 200 and context.call is not None and b'"tools/list"' in context.call.body:
        response.status = 201
