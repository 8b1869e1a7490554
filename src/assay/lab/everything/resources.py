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
    result_reply,
)
from assay.lab.harness.check import Check
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import CHANGING, matching_tools
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import A_RESOURCE, Need, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.content_block import is_mime_type, is_uri
from assay.lab.suite.evidence import answered
from assay.lab.suite.resources import subscriptions
from assay.lab.suite.self_description import as_object

from .content import Block, Problem, data_problem, text_problem
from .declaration import official_check, official_scenario
from .evidence import borrow, judge_list, lacking
from .fixture import fixture_resource, fixture_template


def judge_contents(requirement: str, exchange: Exchange, problem_of: Problem) -> Observation:
    """The first contents have a URI and a type, and no problem."""
    contents = exchange.objects("contents")
    problem = _problem(contents[0], problem_of) if contents else f"no contents: {exchange}"
    expected = "contents with a URI, a mimeType and the data of the resource"
    return observe(requirement, problem is None, exchange, expected=expected, observed=problem)


def _problem(contents: Block, problem_of: Problem) -> str | None:
    if not is_uri(contents.get("uri")):
        return f"the uri {contents.get('uri')!r}"
    if not is_mime_type(contents.get("mimeType")):
        return f"the mimeType {contents.get('mimeType')!r}"
    return problem_of(contents)


WATCHED: Final = "test://watched-resource"
NEEDS: Final = (declares("resources", "subscribe"), fixture_resource(WATCHED))


def changing_tool(facts: Facts) -> dict[str, Any] | None:
    """A tool that claims to change the resource; it is not a fixture of the official suite."""
    tools = matching_tools(CHANGING, facts)
    return next((tool for tool in tools if "watched" in f"{tool['name']} {tool.get('description')}"), None)


async def watch(stage: Stage) -> tuple[Peer, dict[str, Any] | None]:
    """Subscribe to the resource and change it; returns the changing tool, if an update came."""
    peer = await stage.open()
    listens = await open_server_stream(stage, peer)
    await peer.request("resources/subscribe", {"uri": WATCHED})
    tool = changing_tool(stage.facts)
    if not listens or tool is None or not await change(peer, tool):
        return peer, None
    return peer, None if await peer.wait_for(UPDATED, peer.server_stream, uri=WATCHED) is None else tool


async def change(peer: Peer, tool: dict[str, Any]) -> bool:
    """Let the tool write something new; returns whether two readings differ."""
    before = await _read(peer)
    await peer.call(tool, {**arguments_for(tool), **_new_texts(tool)})
    return bool(await _read(peer) != before)


def _new_texts(tool: dict[str, Any]) -> dict[str, str]:
    """New texts for the tool's arguments, unique because others may write at the same time."""
    properties = as_object(as_object(tool.get("inputSchema")).get("properties"))
    return {
        name: f"written by the lab, {token_hex(4)}"
        for name, schema in properties.items()
        if as_object(schema).get("type") == "string" and "enum" not in schema
    }


async def _read(peer: Peer) -> Any:
    return (await peer.request("resources/read", {"uri": WATCHED})).result.get("contents")


# --- what is asked


@official_scenario("resources-list", "List resources", needs=(declares("resources"), A_RESOURCE))
async def drive_resources_list(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/list", "resources")


def _read_all(name: str, title: str, need: Need, *uris: str) -> Scenario:
    async def drive(stage: Stage) -> None:
        peer = await stage.open()
        for uri in uris:
            await peer.request("resources/read", {"uri": uri})

    return official_scenario(name, title, needs=(need,))(drive)


TEXT, BINARY, TEMPLATE = "test://static-text", "test://static-binary", "test://template/{id}/data"
SCENARIOS: Final = (
    _read_all("resources-read-text", "Read a text", fixture_resource(TEXT), TEXT),
    _read_all("resources-read-binary", "Read binary data", fixture_resource(BINARY), BINARY),
    _read_all(
        "resources-templates-read",
        "Read resources of a template",
        fixture_template(TEMPLATE),
        # The official id, and another for which no server can have prepared contents.
        *(TEMPLATE.replace("{id}", name) for name in ("123", "assay-4711")),
    ),
)


# Exclusive: on HTTP, an update that another scenario caused may arrive on the server stream after the answer
# to `resources/unsubscribe`, which comes on another connection.
@official_scenario(
    "resources-subscribe", "Subscribe to a resource and change it", needs=NEEDS, exclusive=True
)
async def drive_resources_subscribe(stage: Stage) -> None:
    await watch(stage)


@official_scenario(
    "resources-unsubscribe", "Unsubscribe from a resource and change it", needs=NEEDS, exclusive=True
)
async def drive_resources_unsubscribe(stage: Stage) -> None:
    peer, tool = await watch(stage)  # the control: updates come during the subscription
    await peer.request("resources/unsubscribe", {"uri": WATCHED})
    if tool is None:
        return
    # Updates sent before the server read the request may still arrive, but none after a round trip.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        await change(peer, tool)


# --- how it is judged


@official_check("resources-list", "Resources are listed with URI and name")
def judge_resources_list(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, "resources-list", "resources", _item_problem)


def _item_problem(resource: dict[str, Any]) -> str | None:
    if missing := lacking(resource, "uri", "name"):
        return missing
    return None if is_uri(resource["uri"]) else f"{resource['uri']!r}, which is not a URI"


def _judge_reading(name: str, title: str, uri: str, problem_of: Problem) -> Check:
    return official_check(name, title)(
        lambda trace: (
            judge_contents(name, exchange, problem_of)
            for exchange in answered(trace, "resources/read", uri=uri)
        )
    )


CHECKS: Final = (
    _judge_reading("resources-read-text", "A text is read in full", TEXT, text_problem),
    _judge_reading(
        "resources-read-binary",
        "Binary data is read in full",
        BINARY,
        lambda contents: data_problem("blob", contents),
    ),
)


URI: Final = re.compile(r"test://template/(.+)/data")


@official_check("resources-templates-read", "Contents of a template have its value")
def judge_resources_templates_read(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read"):
        uri = URI.fullmatch(str(exchange.params.get("uri")))
        if uri is not None:
            yield judge_contents("resources-templates-read", exchange, partial(_value_problem, uri[1]))


def _value_problem(value: str, contents: Block) -> str | None:
    if "blob" in contents:
        return data_problem("blob", contents)
    text = contents.get("text")
    missing = None if value in str(text) else f"a text without {value}: {text!r}"
    return text_problem(contents) or missing


@official_check("resources-subscribe", "Subscribers receive updates")
def judge_resources_subscribe(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/subscribe"):
        holds = exchange.result is not None
        yield observe("resources-subscribe", holds, exchange, expected="a result", observed=exchange)
    yield from borrow(trace, "resources-subscribe", subscriptions.judge_announced, "RS-03")


@official_check("resources-unsubscribe", "No updates come after unsubscribing")
def judge_resources_unsubscribe(trace: Trace) -> Iterator[Observation]:
    if any(answered(trace, "resources/unsubscribe")):
        yield from borrow(trace, "resources-unsubscribe", subscriptions.judge_subscriptions, "RS-03")


# --- what the checks must catch


@on_request("refuses subscriptions", breaks="resources-subscribe")
def subscribe_unknown(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "resources/subscribe":
        message["method"] = "resources/subscriptions"
    return message


@on_reply("sends no updates", breaks="resources-subscribe", silent=True)
def updates_unsent(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply


@on_request("sends updates after unsubscribing", breaks="resources-unsubscribe")
def unsubscribe_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "resources/unsubscribe":
        return message
    return LocalAnswer([result_reply(message, {})])


@on_request("refuses to unsubscribe", breaks="resources-unsubscribe")
def unsubscribe_unknown(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "resources/unsubscribe":
        message["method"] = "resources/leave"
    return message


RESULT_EDITS: Final = (
    *edited_results(
        "resources/list",
        (
            "resources.bare-path",
            "lists a URI without a scheme",
            "resources-list",
            "resources.0.uri",
            "/static/text",
        ),
        (
            "resources.nameless",
            "lists a resource without a name",
            "resources-list",
            "resources.0.name",
            ABSENT,
        ),
    ),
    *edited_results(
        "resources/read",
        ("resources.no-contents", "returns no contents", "resources-read-text", "contents", []),
        ("resources.text-missing", "returns an empty text", "resources-read-text", "contents.0.text", ""),
        (
            "resources.binary-as-hex",
            "returns binary data as hex",
            "resources-read-binary",
            "contents.0.blob",
            "89:50:4e:47",
        ),
        (
            "resources.binary-of-text",
            "returns text as a PNG",
            "resources-read-binary",
            "contents.0.blob",
            "bm90IGEgcGljdHVyZQ==",
        ),
        (
            "resources.template-by-example",
            "ignores the value in a template",
            "resources-templates-read",
            "contents.0.text",
            '{"id":"123"}',
        ),
    ),
)
