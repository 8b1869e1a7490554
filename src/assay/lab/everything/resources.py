"""Resources: list, read, templates, subscriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from secrets import token_hex
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_reply,
    on_request,
)
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import CHANGING, matching_tools
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.server_stream import open_server_stream
from assay.lab.harness.need import A_RESOURCE, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.content_block import is_mime_type, is_uri
from assay.lab.suite.resources import subscriptions

from .content import Block, Problem, data_problem, text_problem
from .declaration import official_check, official_scenario
from .evidence import answered, borrow, judge_list, lacking
from .fixture import fixture_resource, fixture_template


def judge_contents(row: str, exchange: Exchange, problem_of: Problem) -> Observation:
    """The first contents of a reading say where and what they are, and are sound."""
    found = exchange.objects("contents")
    problem = _problem(found[0], problem_of) if found else f"no contents: {exchange}"
    expected = "contents with a URI, a mimeType and what the resource holds"
    return observe(row, problem is None, exchange, expected=expected, observed=problem)


def _problem(contents: Block, problem_of: Problem) -> str | None:
    if not is_uri(contents.get("uri")):
        return f"the uri {contents.get('uri')!r}"
    if not is_mime_type(contents.get("mimeType")):
        return f"the mimeType {contents.get('mimeType')!r}"
    return problem_of(contents)


WATCHED: Final = "test://watched-resource"
NEEDS: Final = (declares("resources", "subscribe"), fixture_resource(WATCHED))


def changing_tool(facts: Facts) -> dict[str, Any] | None:
    """A tool that says it changes the resource; it is no fixture of the official suite."""
    found = matching_tools(CHANGING, facts)
    return next((tool for tool in found if "watched" in f"{tool['name']} {tool.get('description')}"), None)


async def watch(stage: Stage) -> tuple[Peer, dict[str, Any] | None]:
    """Subscribe to the resource, and change it; the tool that did, if that was heard of."""
    peer = await stage.open()
    hears = await open_server_stream(stage, peer)
    await peer.request("resources/subscribe", {"uri": WATCHED})
    tool = changing_tool(stage.facts)
    heard = hears and tool is not None and await heard_of_change(peer, tool)
    return peer, tool if heard else None


async def change(peer: Peer, tool: dict[str, Any]) -> bool:
    """Let the tool write something new; whether two readings of the resource show it."""
    before = await _read(peer)
    await peer.call(tool, {**arguments_for(tool), **_new_texts(tool)})
    return bool(await _read(peer) != before)


async def heard_of_change(peer: Peer, tool: dict[str, Any]) -> bool:
    """Change the resource, and wait for the update if it did change."""
    return (
        await change(peer, tool) and await peer.wait_for(UPDATED, peer.server_stream, uri=WATCHED) is not None
    )


def _new_texts(tool: dict[str, Any]) -> dict[str, str]:
    """For every open text of the tool's: others may be writing theirs at the same time."""
    schema = tool.get("inputSchema")
    known = schema.get("properties") if isinstance(schema, dict) else None
    return {
        name: f"written by the lab, {token_hex(4)}"
        for name, part in (known if isinstance(known, dict) else {}).items()
        if isinstance(part, dict) and part.get("type") == "string" and "enum" not in part
    }


async def _read(peer: Peer) -> Any:
    return (await peer.request("resources/read", {"uri": WATCHED})).result.get("contents")


# --- what is asked


@official_scenario("resources-list", "The list of resources", needs=(declares("resources"), A_RESOURCE))
async def drive_resources_list(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/list", "resources")


@official_scenario("resources-read-text", "Reading a text", needs=(fixture_resource("test://static-text"),))
async def drive_resources_read_text(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/read", {"uri": "test://static-text"})


@official_scenario(
    "resources-read-binary", "Reading binary data", needs=(fixture_resource("test://static-binary"),)
)
async def drive_resources_read_binary(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/read", {"uri": "test://static-binary"})


IDS = ("123", "assay-4711")
"""The official one, and one that no server can have prepared an answer for."""


@official_scenario(
    "resources-templates-read",
    "Reading resources of a template",
    needs=(fixture_template("test://template/{id}/data"),),
)
async def drive_resources_templates_read(stage: Stage) -> None:
    peer = await stage.open()
    for name in IDS:
        await peer.request("resources/read", {"uri": f"test://template/{name}/data"})


@official_scenario("resources-subscribe", "A subscription brings updates", needs=NEEDS)
async def drive_resources_subscribe(stage: Stage) -> None:
    await watch(stage)


@official_scenario("resources-unsubscribe", "After unsubscribing no updates come", needs=NEEDS)
async def drive_resources_unsubscribe(stage: Stage) -> None:
    peer, tool = await watch(stage)  # the control: while it is subscribed to, its changes are heard of
    await peer.request("resources/unsubscribe", {"uri": WATCHED})
    if tool is None:
        return
    # What was on its way while we unsubscribed may still arrive; a round trip later nothing may.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        await change(peer, tool)


@official_check("resources-list", "Resources are listed in full")
def judge_resources_list(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, "resources-list", "resources", _resources_list_problem)


def _resources_list_problem(resource: dict[str, Any]) -> str | None:
    if missing := lacking(resource, "uri", "name"):
        return missing
    return None if is_uri(resource["uri"]) else f"{resource['uri']!r}, which is no URI"


@official_check("resources-read-text", "A text is read in full")
def judge_resources_read_text(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read", uri="test://static-text"):
        yield judge_contents("resources-read-text", exchange, text_problem)


@official_check("resources-read-binary", "Binary data is read in full")
def judge_resources_read_binary(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read", uri="test://static-binary"):
        yield judge_contents("resources-read-binary", exchange, _resources_read_binary_problem)


def _resources_read_binary_problem(contents: Block) -> str | None:
    return data_problem("blob", contents)


URI: Final = re.compile(r"test://template/(.+)/data")


@official_check("resources-templates-read", "A template's value is filled in")
def judge_resources_templates_read(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read"):
        uri = URI.fullmatch(str(exchange.params.get("uri")))
        if uri is not None:
            yield judge_contents(
                "resources-templates-read", exchange, partial(_resources_templates_read_problem, uri[1])
            )


def _resources_templates_read_problem(value: str, contents: Block) -> str | None:
    if "blob" in contents:
        return data_problem("blob", contents)
    missing = (
        None if value in str(contents.get("text")) else f"a text without {value}: {contents.get('text')!r}"
    )
    return text_problem(contents) or missing


@official_check("resources-subscribe", "A subscription brings updates")
def judge_resources_subscribe(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/subscribe"):
        holds = exchange.result is not None
        yield observe("resources-subscribe", holds, exchange, expected="a result", observed=exchange)
    yield from borrow(trace, "resources-subscribe", subscriptions.judge_announced, "RS-03")


@official_check("resources-unsubscribe", "After unsubscribing no updates come")
def judge_resources_unsubscribe(trace: Trace) -> Iterator[Observation]:
    if any(answered(trace, "resources/unsubscribe")):
        yield from borrow(trace, "resources-unsubscribe", subscriptions.judge_subscriptions, "RS-03")


# --- what the checks must catch


@on_request("subscribing is refused", breaks="resources-subscribe")
def subscribe_unknown(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "resources/subscribe":
        message["method"] = "resources/subscriptions"
    return message


@on_reply("a resource changes, and no update follows", breaks="resources-subscribe", silent=True)
def updates_unsent(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply


@on_request("updates go on after unsubscribing", breaks="resources-unsubscribe")
def unsubscribe_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "resources/unsubscribe":
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])


@on_request("unsubscribing is refused", breaks="resources-unsubscribe")
def unsubscribe_unknown(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "resources/unsubscribe":
        message["method"] = "resources/leave"
    return message


RESULT_EDITS: Final = (
    *edited_results(
        "resources/list",
        (
            "resources.bare-path",
            "a resource's URI has no scheme",
            "resources-list",
            "resources.0.uri",
            "/static/text",
        ),
        ("resources.nameless", "a resource has no name", "resources-list", "resources.0.name", ABSENT),
    ),
    *edited_results(
        "resources/read",
        (
            "resources.no-contents",
            "a resource is read as an empty list",
            "resources-read-text",
            "contents",
            [],
        ),
        (
            "resources.text-missing",
            "a text is read as an empty text",
            "resources-read-text",
            "contents.0.text",
            "",
        ),
        (
            "resources.binary-as-hex",
            "binary data is in hex",
            "resources-read-binary",
            "contents.0.blob",
            "89:50:4e:47",
        ),
        (
            "resources.binary-of-text",
            "a PNG is no PNG",
            "resources-read-binary",
            "contents.0.blob",
            "bm90IGEgcGljdHVyZQ==",
        ),
        (
            "resources.template-by-example",
            "a template's value is not filled in",
            "resources-templates-read",
            "contents.0.text",
            '{"id":"123"}',
        ),
    ),
)
