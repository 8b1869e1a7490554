"""One conversation without a handshake: requests carry `_meta`, and questions are answered by retry."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import demo_show as show
from demo_link import EVENT_STREAM, JSON_TYPE, META, Answer, HttpLink, Link
from demo_show import Json
from demo_talk import UPDATED, WATCHED, Talk, expect, expect_text, part, respond

from assay.revisions.registry import DATES
from assay.revisions.revision import Revision

ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"


class DescribedTalk(Talk):
    """Adds the client's version and capabilities to every request."""

    def request(self, method: str, params: Json | None = None) -> Json:
        members = params or {}
        client = {
            f"{META}protocolVersion": self.revision.date,
            f"{META}clientCapabilities": {"roots": {}, "sampling": {}, "elicitation": {}},
            f"{META}clientInfo": {"name": "assay-demo", "version": "1.0.0"},
        }
        return super().request(method, {**members, "_meta": {**members.get("_meta", {}), **client}})

    def ask(self, method: str, params: Json | None = None) -> Answer:
        answer = super().ask(method, params)
        expect("questions as requests", [message for message in answer.before if "id" in message], [])
        return answer


def expect_type(answer: Answer, kind: str) -> None:
    expect("resultType", answer.result.get("resultType"), kind)
    info = answer.result["_meta"][f"{META}serverInfo"]
    expect("server", info["name"], "mcp-conformance-test-server")


def discover(talk: DescribedTalk) -> None:
    """discover the server without a handshake"""
    answer = talk.ask("server/discover")
    expect_type(answer, "complete")
    expect("revisions", set(answer.result["supportedVersions"]), set(DATES))
    offered = {"tools", "resources", "prompts", "completions"}
    expect("capabilities", offered <= set(answer.result["capabilities"]), True)


def list_tools(talk: DescribedTalk) -> None:
    """list the tools, with cache hints"""
    answer = talk.ask("tools/list")
    expect_type(answer, "complete")
    hints = (answer.result.get("ttlMs"), answer.result.get("cacheScope"))
    expect("cache hints", hints, (0, "public"))
    expect("some tools", "test_simple_text" in {tool["name"] for tool in answer.result["tools"]}, True)


def plain_call(talk: DescribedTalk) -> None:
    """call a tool that only returns"""
    answer = talk.call("test_simple_text")
    expect_type(answer, "complete")
    expect_text(answer, "This is a simple text response for testing.")
    talk.expect_form(answer, JSON_TYPE)


def call_with_progress(talk: DescribedTalk) -> None:
    """call a tool that reports progress"""
    answer = talk.call("test_tool_with_progress", meta={"progressToken": "demo"})
    expect("progress", [notice["params"]["progress"] for notice in answer.before], [0, 50, 100])
    expect_text(answer, "Tool with progress executed successfully")
    talk.expect_form(answer, EVENT_STREAM)


def answer_by_retry(talk: DescribedTalk, name: str, arguments: Json, method: str) -> tuple[Answer, Json]:
    """Call a tool that asks one question, and again with the answer; also returns the second request."""
    asking = talk.call(name, arguments)
    expect_type(asking, "input_required")
    questions: Json = asking.result["inputRequests"]
    expect("questions", [question["method"] for question in questions.values()], [method])
    responses = {key: respond({"id": key, **question})["result"] for key, question in questions.items()}
    sent = {
        "name": name,
        "arguments": arguments,
        "requestState": asking.result["requestState"],
        "inputResponses": responses,
    }
    return talk.ask("tools/call", sent), sent


def sample(talk: DescribedTalk) -> None:
    """sampling: the call ends with the question, and is sent again with the answer"""
    arguments = {"prompt": "What is six times seven?"}
    answer, _ = answer_by_retry(talk, "test_sampling", arguments, "sampling/createMessage")
    expect_type(answer, "complete")
    expect_text(answer, "LLM response: Forty-two.")


def elicit(talk: DescribedTalk) -> None:
    """elicitation in the same way, then a changed request state"""
    answer, sent = answer_by_retry(
        talk, "test_elicitation", {"message": "Who are you?"}, "elicitation/create"
    )
    expect_type(answer, "complete")
    text = answer.result["content"][0]["text"]
    expect(
        "the answer of the user",
        text.startswith('User response: action=accept, content={"username":"demo"'),
        True,
    )
    refused = talk.ask("tools/call", sent | {"requestState": "x" + sent["requestState"]}).message
    expect("error code", refused.get("error", {}).get("code"), -32602)


def listen(talk: DescribedTalk) -> None:
    """receive a change on a listen stream, then close it"""
    subscriptions = {"resourceSubscriptions": [WATCHED]}
    request = talk.request("subscriptions/listen", {"notifications": subscriptions})
    stream: Any = {f"{META}subscriptionId": request["id"]}
    talk.link.open(request)
    acknowledged = talk.link.wait_for(ACKNOWLEDGED)["params"]
    expect("acknowledgement", acknowledged, {"_meta": stream, "notifications": subscriptions})
    talk.call("test_update_watched_resource", {"text": "changed once"})
    expect("update", talk.link.wait_for(UPDATED)["params"], {"_meta": stream, "uri": WATCHED})
    talk.link.leave(request)
    talk.call("test_update_watched_resource", {"text": "changed twice"})


def removed(talk: DescribedTalk) -> None:
    """call a method that this revision removed"""
    answer = talk.ask("ping")
    expect("error code", answer.message.get("error", {}).get("code"), -32601)
    if isinstance(talk.link, HttpLink):
        expect("status", answer.status, 404)


STEPS: Final[Iterable[Callable[[DescribedTalk], None]]] = (
    discover,
    list_tools,
    plain_call,
    call_with_progress,
    sample,
    elicit,
    listen,
    removed,
    part,
)


def hold(link: Link, revision: Revision) -> None:
    """
    Raises:
        Unexpected: the server did something wrong.
    """
    talk = DescribedTalk(link, revision)
    for step in STEPS:
        show.step(step.__doc__ or step.__name__)
        step(talk)
