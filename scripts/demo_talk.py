"""One conversation with a handshake: every step checks the answer."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import demo_show as show
from demo_link import EVENT_STREAM, JSON_TYPE, Answer, HttpLink, Link, Unexpected
from demo_show import Json

from assay.revisions.revision import Revision, TaskForm

WATCHED: Final = "test://watched-resource"
UPDATED: Final = "notifications/resources/updated"
SAMPLE: Final = {
    "role": "assistant",
    "content": {"type": "text", "text": "Forty-two."},
    "model": "demo-model",
    "stopReason": "endTurn",
}
FORM: Final = {"action": "accept", "content": {"username": "demo", "email": "demo@example.com"}}


def respond(request: Json) -> Json:
    """Answer the server's requests as the user and the model."""
    results = {"sampling/createMessage": SAMPLE, "elicitation/create": FORM, "ping": {}}
    if request["method"] not in results:
        raise Unexpected(f"the server asked for {request['method']}")
    return {"jsonrpc": "2.0", "id": request["id"], "result": results[request["method"]]}


def expect(label: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        raise Unexpected(f"{label}: expected {expected!r}, got {actual!r}")


class Talk:
    def __init__(self, link: Link, revision: Revision) -> None:
        self.link = link
        self.revision = revision
        self._last_id = 0

    def request(self, method: str, params: Json | None = None) -> Json:
        self._last_id += 1
        request: Json = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        return request if params is None else {**request, "params": params}

    def ask(self, method: str, params: Json | None = None) -> Answer:
        return self.link.ask(self.request(method, params))

    def call(self, name: str, arguments: Json | None = None, meta: Json | None = None) -> Answer:
        params: Json = {"name": name, "arguments": arguments or {}}
        return self.ask("tools/call", params if meta is None else {**params, "_meta": meta})

    def tell(self, method: str) -> None:
        self.link.tell({"jsonrpc": "2.0", "method": method})

    def expect_form(self, answer: Answer, media_type: str) -> None:
        """On HTTP: JSON if the handler only returns, a stream if it sends anything else."""
        if isinstance(self.link, HttpLink):
            expect("form of the answer", answer.form, media_type)


def expect_text(answer: Answer, text: str) -> None:
    expect("content", answer.result.get("content"), [{"type": "text", "text": text}])


def capabilities_of(revision: Revision) -> set[str]:
    """What a server that offers everything declares, besides extensions."""
    tasks = {"tasks"} if revision.tasks is TaskForm.CORE else set[str]()
    return {"tools", "resources", "prompts", "logging", "completions"} & revision.capabilities | tasks


def handshake(talk: Talk) -> None:
    """initialize"""
    capabilities: Json = {"roots": {}, "sampling": {}}
    if talk.revision.elicitation:
        capabilities["elicitation"] = {}
    params = {
        "protocolVersion": talk.revision.date,
        "capabilities": capabilities,
        "clientInfo": {"name": "assay-demo", "version": "1.0.0"},
    }
    result = talk.ask("initialize", params).result
    expect("negotiated revision", result["protocolVersion"], talk.revision.date)
    expect("server", result["serverInfo"]["name"], "mcp-conformance-test-server")
    expect("capabilities", set(result["capabilities"]) - {"extensions"}, capabilities_of(talk.revision))
    if isinstance(talk.link, HttpLink):
        talk.link.use_revision(talk.revision.date)
    talk.tell("notifications/initialized")


def ping(talk: Talk) -> None:
    """ping"""
    expect("ping", talk.ask("ping").result, {})


def list_tools(talk: Talk) -> None:
    """list the tools"""
    tools = talk.ask("tools/list").result["tools"]
    expect("some tools", {"test_simple_text", "test_sampling"} <= {tool["name"] for tool in tools}, True)
    expect("input schemas", {tool["inputSchema"]["type"] for tool in tools}, {"object"})


def plain_call(talk: Talk) -> None:
    """call a tool that only returns"""
    answer = talk.call("test_simple_text")
    expect_text(answer, "This is a simple text response for testing.")
    talk.expect_form(answer, JSON_TYPE)


def call_with_progress(talk: Talk) -> None:
    """call a tool that reports progress"""
    answer = talk.call("test_tool_with_progress", meta={"progressToken": "demo"})
    expect("progress", [notice["params"]["progress"] for notice in answer.before], [0, 50, 100])
    expect("tokens", {notice["params"]["progressToken"] for notice in answer.before}, {"demo"})
    expect_text(answer, "Tool with progress executed successfully")
    talk.expect_form(answer, EVENT_STREAM)


def failing_calls(talk: Talk) -> None:
    """call a tool that fails, and one that does not exist"""
    result = talk.call("test_error_handling").result
    expect("isError", result.get("isError"), True)
    error = talk.call("no_such_tool").message.get("error", {})
    expect("error code", error.get("code"), -32602)


def content_for_revision(talk: Talk) -> None:
    """get audio, in the form of the revision"""
    block = talk.call("test_audio_content").result["content"][0]
    expect("kind of block", block["type"], "audio" if "audio" in talk.revision.content else "resource")


def read(talk: Talk) -> None:
    """read a resource"""
    contents = talk.ask("resources/read", {"uri": "test://static-text"}).result["contents"]
    expect("text", contents[0]["text"], "This is the content of the static text resource.")


def watch(talk: Talk) -> None:
    """watch a resource change, then stop watching"""
    if isinstance(talk.link, HttpLink):
        talk.link.listen()
    expect("subscribe", talk.ask("resources/subscribe", {"uri": WATCHED}).result, {})
    talk.call("test_update_watched_resource", {"text": "changed once"})
    expect("update", talk.link.wait_for(UPDATED)["params"], {"uri": WATCHED})
    expect("unsubscribe", talk.ask("resources/unsubscribe", {"uri": WATCHED}).result, {})
    talk.call("test_update_watched_resource", {"text": "changed twice"})


def get_prompt(talk: Talk) -> None:
    """get a prompt"""
    params = {"name": "test_prompt_with_arguments", "arguments": {"arg1": "one", "arg2": "two"}}
    messages = talk.ask("prompts/get", params).result["messages"]
    text = "Prompt with arguments: arg1='one', arg2='two'"
    expect("messages", messages, [{"role": "user", "content": {"type": "text", "text": text}}])


def complete(talk: Talk) -> None:
    """complete an argument"""
    params = {
        "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "par"},
    }
    completion = talk.ask("completion/complete", params).result["completion"]
    expect("completion", completion, {"values": ["paris", "park", "party"], "total": 3, "hasMore": False})


def sample(talk: Talk) -> None:
    """sampling"""
    answer = talk.call("test_sampling", {"prompt": "What is six times seven?"})
    expect("questions", [message["method"] for message in answer.before], ["sampling/createMessage"])
    expect_text(answer, "LLM response: Forty-two.")


def elicit(talk: Talk) -> None:
    """elicitation, if the revision has it"""
    answer = talk.call("test_elicitation", {"message": "Who are you?"})
    questions = ["elicitation/create"] if talk.revision.elicitation else []
    expect("questions", [message["method"] for message in answer.before], questions)
    expect("isError", answer.result.get("isError", False), not questions)


def part(talk: Talk) -> None:
    """end the conversation"""
    talk.link.close()
    late = [notice["method"] for notice in talk.link.notices if notice["method"] == UPDATED]
    expect("updates after unsubscribing", late, [])
    show.remark("and no update came after we had stopped watching")


STEPS: Final[Iterable[Callable[[Talk], None]]] = (
    handshake,
    ping,
    list_tools,
    plain_call,
    call_with_progress,
    failing_calls,
    content_for_revision,
    read,
    watch,
    get_prompt,
    complete,
    sample,
    elicit,
    part,
)


def hold(link: Link, revision: Revision) -> None:
    """
    Raises:
        Unexpected: the server did not do what it must.
    """
    talk = Talk(link, revision)
    for step in STEPS:
        show.step(step.__doc__ or step.__name__)
        step(talk)
