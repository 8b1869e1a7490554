"""One conversation with the reference server: discover, use a tool, read and watch a resource, get a prompt,
choose a model. The same steps with a handshake and without."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import demo_show as show
from demo_described import DescribedTalk
from demo_link import EVENT_STREAM, JSON_TYPE, META, Answer, DuplexLink, HttpLink, Link
from demo_show import Json
from demo_talk import UPDATED, Talk, capabilities_of, expect

from assay.revisions.registry import DATES
from assay.revisions.revision import Opening, Revision, Structured

SERVER: Final = "RefMCP-TestServer"
ADDED: Final = {"models", "metadata"}
TODO: Final = "file:///resources/todo.txt"
NOTES: Final = "file:///resources/notes.txt"
PHOENIX: Final = "Current weather in Phoenix:\nTemperature: 85°F\nConditions: Sunny"
CODE: Final = "def hello():\n    print('world')"


class ReferenceTalk(Talk):
    """With a handshake, and in a session if the transport has one."""

    in_session = True

    def introduce(self) -> Json:
        if isinstance(self.link, DuplexLink):
            early = self.ask("tools/list").message.get("error", {})
            expect("code of a request before the handshake", early.get("code"), -32602)
        capabilities: Json = {"roots": {"listChanged": True}, "sampling": {}}
        if self.revision.elicitation:
            capabilities["elicitation"] = {}
        client = {"name": "ExampleClient", "version": "1.0.0"}
        params = {"protocolVersion": self.revision.date, "capabilities": capabilities, "clientInfo": client}
        result = self.ask("initialize", params).result
        expect("negotiated revision", result["protocolVersion"], self.revision.date)
        expect("server", (result["serverInfo"]["name"], result["serverInfo"]["version"]), (SERVER, "1.0.0"))
        if isinstance(self.link, HttpLink):
            self.link.use_revision(self.revision.date)
            self.in_session = self.link.in_session
        self.tell("notifications/initialized")
        return result

    def call_logged(self, name: str, arguments: Json) -> Answer:
        """Call a tool and return its log messages."""
        if self.in_session:
            expect("setLevel", self.ask("logging/setLevel", {"level": "debug"}).result, {})
        return self.call(name, arguments)

    def watch_notes(self) -> Callable[[], None]:
        if isinstance(self.link, HttpLink):
            self.link.listen()
        expect("subscribe", self.ask("resources/subscribe", {"uri": NOTES}).result, {})

        def stop() -> None:
            expect("unsubscribe", self.ask("resources/unsubscribe", {"uri": NOTES}).result, {})

        return stop


class DescribedReferenceTalk(DescribedTalk, ReferenceTalk):
    """Every request carries the client's version and capabilities."""

    def introduce(self) -> Json:
        result = self.ask("server/discover").result
        expect("revisions", set(result["supportedVersions"]), set(DATES))
        own = {name for name in result["capabilities"]["extensions"] if name.startswith("dev.assay/")}
        expect("extensions", own, {f"dev.assay/{name}" for name in ADDED})
        self.in_session = not isinstance(self.link, HttpLink) or self.link.streams
        return result

    def call_logged(self, name: str, arguments: Json) -> Answer:
        return self.call(name, arguments, meta={f"{META}logLevel": "debug"})

    def watch_notes(self) -> Callable[[], None]:
        request = self.request("subscriptions/listen", {"notifications": {"resourceSubscriptions": [NOTES]}})
        self.link.open(request)
        self.link.wait_for("notifications/subscriptions/acknowledged")
        return lambda: self.link.leave(request)


def initialization(talk: ReferenceTalk) -> None:
    """1. initialization: negotiate a revision and capabilities"""
    declared = talk.introduce()["capabilities"]
    expect("capabilities", set(declared) - {"extensions"}, capabilities_of(talk.revision) | ADDED)
    expect("nothing experimental", "experimental" in declared, False)


def discovery(talk: ReferenceTalk) -> None:
    """2. discovering capabilities: metadata, and the tools with their schemas"""
    metadata = talk.ask("metadata/get").result
    expect("name and version", (metadata["name"], metadata["version"]), (SERVER, "1.0.0"))
    expect("authRequired", metadata["authRequired"], False)
    tools = {tool["name"]: tool for tool in talk.ask("tools/list").result["tools"]}
    expect("sample tools", {"echo", "sum", "get_weather"} <= set(tools), True)
    schema = tools["get_weather"]["inputSchema"]
    expect("schema", (list(schema["properties"]), schema["required"]), (["location"], ["location"]))


def using_a_tool(talk: ReferenceTalk) -> None:
    """3. using a tool: a log message, then the result"""
    answer = talk.call_logged("get_weather", {"location": "Phoenix"})
    expect("log messages", len(answer.before), int(talk.in_session))
    expect("content", answer.result["content"][0], {"type": "text", "text": PHOENIX})
    if talk.revision.structured is not Structured.ABSENT:
        structured = {"temperature": 85, "conditions": "Sunny"}
        expect("structured content", answer.result["structuredContent"], structured)
    talk.expect_form(answer, EVENT_STREAM if talk.in_session else JSON_TYPE)
    total = talk.call("sum", {"a": 7, "b": 8})
    expect("sum", total.result["content"][0]["text"], '{"total":15}')
    talk.expect_form(total, JSON_TYPE)


def accessing_a_resource(talk: ReferenceTalk) -> None:
    """4. accessing a resource: list and read"""
    resources = {resource["uri"]: resource for resource in talk.ask("resources/list").result["resources"]}
    (contents,) = talk.ask("resources/read", {"uri": TODO}).result["contents"]
    expect("kind", contents["mimeType"], resources[TODO]["mimeType"])
    expect("size", len(contents["text"].encode()), resources[TODO]["size"])
    missing = talk.ask("resources/read", {"uri": "file:///nonexistent.txt"}).message.get("error", {})
    expect("code for what is not there", missing.get("code"), talk.revision.resource_not_found)


def hearing_of_changes(talk: ReferenceTalk) -> None:
    """and watching it change, until unsubscribed"""
    if not talk.in_session:
        show.remark("plain HTTP brings answers only: the client reads again")
        return edit(talk, "changed")
    stop = talk.watch_notes()
    edit(talk, "changed once")
    expect("update", talk.link.wait_for(UPDATED)["params"]["uri"], NOTES)
    stop()
    return edit(talk, "changed twice")


def edit(talk: ReferenceTalk, text: str) -> None:
    talk.call("edit_resource", {"text": text})
    (contents,) = talk.ask("resources/read", {"uri": NOTES}).result["contents"]
    expect("text after the change", contents["text"], text)


def using_a_prompt(talk: ReferenceTalk) -> None:
    """5. using a prompt template"""
    names = [prompt["name"] for prompt in talk.ask("prompts/list").result["prompts"]]
    expect("prompts", names, ["code_review", "bug_report", "refactor"])
    params = {"name": "code_review", "arguments": {"code": CODE}}
    text = f"Please review this Python code:\n{CODE}"
    messages = talk.ask("prompts/get", params).result["messages"]
    expect("messages", messages, [{"role": "user", "content": {"type": "text", "text": text}}])
    ref = {"type": "ref/prompt", "name": "code_review"}
    completion = talk.ask(
        "completion/complete", {"ref": ref, "argument": {"name": "language", "value": "ru"}}
    )
    expect("languages", completion.result["completion"]["values"], ["Ruby", "Rust"])


def model_selection(talk: ReferenceTalk) -> None:
    """6. model selection, visible in a later request"""
    models = [model["name"] for model in talk.ask("models/list").result["models"]]
    expect("models", models, ["gpt-4", "gpt-3.5-turbo", "claude-v2"])
    for name in (models[1], models[2]):
        expect("active", talk.ask("models/select", {"name": name}).result["active"], name)
        expect("active later", talk.ask("models/list").result["active"], name)
    refused = talk.ask("models/select", {"name": "none"}).message.get("error", {})
    expect("code for an unknown model", refused.get("code"), -32602)


def edge_cases(talk: ReferenceTalk) -> None:
    """and errors with the right codes"""
    cases: Iterable[tuple[str, Json, int]] = (
        ("no/such/method", {}, -32601),
        ("tools/call", {"name": "no_such_tool", "arguments": {}}, -32602),
        ("prompts/get", {"name": "code_review", "arguments": {}}, -32602),
    )
    for method, params, code in cases:
        error: Any = talk.ask(method, params).message.get("error", {})
        expect(f"code for {method}", error.get("code"), code)


def part(talk: ReferenceTalk) -> None:
    """end the conversation"""
    talk.link.close()
    late = [notice["method"] for notice in talk.link.notices if notice["method"] == UPDATED]
    expect("updates after unsubscribing", late, [])


STEPS: Final[Iterable[Callable[[ReferenceTalk], None]]] = (
    initialization,
    discovery,
    using_a_tool,
    accessing_a_resource,
    hearing_of_changes,
    using_a_prompt,
    model_selection,
    edge_cases,
    part,
)
TALKS: Final = {Opening.HANDSHAKE: ReferenceTalk, Opening.PER_REQUEST: DescribedReferenceTalk}


def hold(link: Link, revision: Revision) -> None:
    """
    Raises:
        Unexpected: the server did not do what it must.
    """
    talk = TALKS[revision.opening](link, revision)
    for step in STEPS:
        show.step(step.__doc__ or step.__name__)
        step(talk)
