"""Our client, used for everything that the fixture servers of other SDKs offer.

`client.py '{"transport": …, "revision": …, "target": …, "lacks": {feature: reason}}'` runs every step on one
server; `lacks` are the features that it does not have.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from report import NoApi, Step, expect, expect_silence, run_steps

from assay import (
    Audio,
    Client,
    ClientError,
    ElicitationRequest,
    EmbeddedResource,
    Image,
    LogMessage,
    Progress,
    ResourceLink,
    SamplingRequest,
    Stdio,
    SyncClient,
    Text,
    Timeout,
    ToolFailed,
)

WATCHED = "test://watched-resource"
PNG = b"\x89PNG"
AT_ONCE = 20
VALUES: dict[str, Any] = {"string": "ada", "boolean": True, "integer": 7, "number": 7.5, "array": []}


@dataclass(frozen=True)
class Task:
    transport: str
    revision: str
    target: list[str] | str
    lacks: dict[str, str]

    @property
    def server(self) -> Stdio | str:
        return self.target if isinstance(self.target, str) else Stdio(*self.target, env=pythonpath())


def pythonpath() -> dict[str, str]:
    """Where fixture servers in Python find their fixtures."""
    return {"PYTHONPATH": sys.path[0].rpartition("/")[0]}


class Program:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.logs: list[str] = []
        self.changes: asyncio.Queue[str] = asyncio.Queue()
        self.questions: list[str] = []
        self.main = self.client()

    def client(self, **options: Any) -> Client:
        return Client(
            self.task.server,
            revision=self.task.revision,
            sampling=self.on_sampling,
            elicitation=self.on_elicitation,
            roots=["file:///interop/root"],
            on_log=self.on_log,
            on_change=lambda change: self.changes.put_nowait(change.uri or change.kind),
            timeout=10,
            **options,
        )

    # Questions and notices of the server.

    def on_sampling(self, request: SamplingRequest) -> str:
        self.questions.append("sampling")
        return "sampled by the client"

    async def on_elicitation(self, request: ElicitationRequest) -> dict[str, Any]:
        self.questions.append(request.message)
        return {name: value_for(schema) for name, schema in request.requested_schema["properties"].items()}

    def on_log(self, message: LogMessage) -> None:
        self.logs.append(str(message.data))

    # Steps.

    async def connect(self) -> str:
        await self.main.open()
        expect(self.main.revision, self.task.revision, "revision")
        async with Client(self.task.server) as client:
            agreed = client.revision
            assert client.server_info is None or client.server_info.name == "mcp-conformance-test-server"
        return f"uses {self.main.revision}; agrees on {agreed} by itself"

    async def text(self, tool: str, **arguments: Any) -> str:
        return (await self.main.call(tool, **arguments)).text

    async def tools(self) -> str:
        tools = await self.main.tools()
        assert all(tool.input_schema["type"] == "object" for tool in tools), tools
        assert "test_simple_text" in [tool.name for tool in tools], tools
        expect(await self.text("test_simple_text"), "This is a simple text response for testing.", "text")
        return f"{len(tools)} tools"

    async def content(self) -> str:
        (image,) = (await self.main.call("test_image_content")).content
        assert isinstance(image, Image) and image.data.startswith(PNG), image
        (audio,) = (await self.main.call("test_audio_content")).content
        assert isinstance(audio, Audio) and audio.data.startswith(b"RIFF"), audio
        (embedded,) = (await self.main.call("test_embedded_resource")).content
        assert isinstance(embedded, EmbeddedResource), embedded
        expect(embedded.resource.text, "This is an embedded resource content.", "embedded")
        mixed = (await self.main.call("test_multiple_content_types")).content
        expect([type(block) for block in mixed], [Text, Image, EmbeddedResource], "mixed content")
        return "text, image, audio, embedded resource"

    async def resource_link(self) -> str:
        (link,) = (await self.main.call("test_resource_link")).content
        assert isinstance(link, ResourceLink), link
        (contents,) = await self.main.read(link.uri)
        return str(contents.text)

    async def structured(self) -> str:
        expect(await self.main.call_as(dict[str, int], "test_structured"), {"sum": 3}, "structured")
        return "typed"

    async def arguments(self) -> str:
        return (await self.main.call("test_header_parameter", region="us-west1")).text

    async def schema_keywords(self) -> str:
        tools = {tool.name: tool.input_schema for tool in await self.main.tools()}
        assert {"$defs", "allOf", "if", "then", "else"} <= {*tools["json_schema_2020_12_tool"]}, tools
        result = await self.main.call("json_schema_2020_12_tool", name="ada", email="ada@example.org")
        return result.text

    async def tool_error(self) -> str:
        try:
            await self.main.call("test_error_handling")
        except ToolFailed as failed:
            assert failed.result.is_error
            return str(failed)
        raise AssertionError("no ToolFailed")

    async def unknown_names(self) -> str:
        unknown: dict[str, Callable[[], Awaitable[Any]]] = {
            "tool": lambda: self.main.call("no_such_tool"),
            "resource": lambda: self.main.read("test://no-such-resource"),
            "prompt": lambda: self.main.prompt("no_such_prompt"),
        }
        errors = []
        for kind, request in unknown.items():
            try:
                raise AssertionError(f"an unknown {kind} gave {await request()}")
            except ClientError as error:
                errors.append(f"{kind}: {type(error).__name__}")
        return ", ".join(errors)

    async def resources(self) -> str:
        listed = [resource.uri for resource in await self.main.resources()]
        assert {"test://static-text", "test://static-binary", WATCHED} <= {*listed}, listed
        (text,) = await self.main.read("test://static-text")
        assert text.text is not None and "static text" in text.text, text
        (binary,) = await self.main.read("test://static-binary")
        assert binary.blob is not None and binary.blob.startswith(PNG), binary
        return f"{len(listed)} resources"

    async def pagination(self) -> str:
        page = await self.main.request("resources/list")
        assert "nextCursor" in page and len(page["resources"]) < len(await self.main.resources()), page
        return "followed the cursors"

    async def templates(self) -> str:
        (template,) = await self.main.templates()
        expect(template.uri_template, "test://template/{id}/data", "template")
        (contents,) = await self.main.read("test://template/42/data")
        expect(json.loads(contents.text or "")["id"], "42", "id")
        return template.uri_template

    async def prompts(self) -> str:
        names = [prompt.name for prompt in await self.main.prompts()]
        prompt = await self.main.prompt("test_prompt_with_arguments", arg1="one", arg2="two")
        expect(prompt.messages[0].content.text, "Prompt with arguments: arg1='one', arg2='two'", "prompt")
        prompt = await self.main.prompt("test_prompt_with_embedded_resource", resourceUri="test://a")
        assert isinstance(prompt.messages[0].content, EmbeddedResource), prompt
        prompt = await self.main.prompt("test_prompt_with_image")
        assert isinstance(prompt.messages[0].content, Image), prompt
        return f"{len(names)} prompts"

    async def completion(self) -> str:
        of_prompt = await self.main.complete("arg1", "par", prompt="test_prompt_with_arguments")
        expect(of_prompt.values, ["paris", "park", "party"], "of a prompt")
        of_template = await self.main.complete("id", "to", template="test://template/{id}/data")
        expect(of_template.values, ["tokyo"], "of a template")
        return ", ".join(of_prompt.values)

    async def logging(self) -> str:
        self.logs.clear()
        await self.main.call("test_tool_with_logging")
        expect(len(self.logs), 3, "messages at level info")
        async with self.client(log_level="error") as client:
            self.logs.clear()
            await client.call("test_tool_with_logging")
            expect(self.logs, [], "messages at level error")
        return "three messages, and none at level error"

    async def progress(self) -> str:
        reports: list[Progress] = []
        await self.main.call_tool("test_tool_with_progress", progress=reports.append)
        expect(
            [(each.progress, each.total) for each in reports], [(0, 100), (50, 100), (100, 100)], "reports"
        )
        return "three reports, in order, before the result"

    async def subscription(self) -> str:
        async with self.main.subscribe(WATCHED) as changes:
            await self.main.call("test_update_watched_resource")
            expect((await anext(changes)).uri, WATCHED, "update")
        (contents,) = await self.main.read(WATCHED, fresh=True)
        assert contents.text is not None and "changed" in contents.text, contents
        while not self.changes.empty():
            self.changes.get_nowait()
        await self.main.call("test_update_watched_resource")
        await expect_silence(self.changes)
        return "one update, and none after the end"

    async def list_changes(self) -> str:
        for tool, kind in (("test_trigger_tool_change", "tools"), ("test_trigger_prompt_change", "prompts")):
            await self.main.call(tool)
            expect(await self.changes.get(), kind, "change")
        assert "passing_tool" in [tool.name for tool in await self.main.tools()]
        return "tools, prompts"

    async def sampling(self) -> str:
        expect(
            await self.text("test_sampling", prompt="a question"),
            "LLM response: sampled by the client",
            "text",
        )
        return "asked the model"

    async def elicitation(self) -> str:
        answer = await self.text("test_elicitation", message="Who are you?")
        assert "action=accept" in answer and "ada" in answer, answer
        for tool in ("test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"):
            assert "action=accept" in await self.text(tool)
        return answer

    async def roots(self) -> str:
        answer = await self.text("test_input_required_result_list_roots")
        assert "file:///interop/root" in answer, answer
        return answer

    async def rounds(self) -> str:
        several = await self.text("test_input_required_result_multiple_inputs")
        rounds = await self.text("test_input_required_result_multi_round")
        prompt = await self.main.prompt("test_input_required_result_prompt")
        return "; ".join((several, rounds, str(prompt.messages[0].content)))

    async def cancel(self) -> str:
        is_running = asyncio.Event()
        work = self.main.call_tool("test_slow", progress=lambda report: is_running.set(), timeout=None)
        call = asyncio.create_task(work)
        await is_running.wait()
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        expect(await self.text("test_await_cancelled"), "cancelled", "the server's handler")
        return "the server's handler was cancelled"

    async def timeout(self) -> str:
        try:
            await self.main.call_tool("test_slow", timeout=0.2)
        except Timeout as error:
            await self.text("test_simple_text")
            return str(error)
        raise AssertionError("no Timeout")

    async def polling(self) -> str:
        answer = await self.text("test_reconnection")
        assert "reconnected properly" in answer, answer
        return "came back for the answer"

    async def at_once(self) -> str:
        texts = await asyncio.gather(*(self.text("test_simple_text") for _ in range(AT_ONCE)))
        expect(set(texts), {"This is a simple text response for testing."}, "texts")
        return f"{AT_ONCE} calls"

    async def ping(self) -> str:
        return f"{await self.main.ping() < 10}"

    async def sync_client(self) -> str:
        def use() -> str:
            with SyncClient(self.task.server, revision=self.task.revision) as client:
                return client.call("test_simple_text").text

        expect(await asyncio.to_thread(use), "This is a simple text response for testing.", "text")
        return "in a thread"

    async def nothing_left(self) -> str:
        await self.main.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        expect({str(task) for task in left}, set(), "tasks after closing")
        return "no task is left"

    def steps(self) -> dict[str, Step]:
        steps: dict[str, Step] = {
            "connect": self.connect,
            "tools": self.tools,
            "content": self.content,
            "resource link": self.resource_link,
            "structured content": self.structured,
            "arguments": self.arguments,
            "schema keywords": self.schema_keywords,
            "tool error": self.tool_error,
            "unknown names": self.unknown_names,
            "resources": self.resources,
            "pagination": self.pagination,
            "templates": self.templates,
            "prompts": self.prompts,
            "completion": self.completion,
            "logging": self.logging,
            "progress": self.progress,
            "subscription": self.subscription,
            "list changes": self.list_changes,
            "sampling": self.sampling,
            "elicitation": self.elicitation,
            "roots": self.roots,
            "rounds": self.rounds,
            "cancel": self.cancel,
            "timeout": self.timeout,
            "polling": self.polling,
            "at once": self.at_once,
            "ping": self.ping,
            "SyncClient": self.sync_client,
            "nothing left": self.nothing_left,
        }
        return steps | {feature: lacking(reason) for feature, reason in self.task.lacks.items()}


def lacking(reason: str) -> Step:
    async def step() -> str:
        raise NoApi(reason)

    return step


def value_for(schema: dict[str, Any]) -> Any:
    """An answer that fits one field of a form."""
    if "default" in schema:
        return schema["default"]
    choices = schema.get("enum") or [choice["const"] for choice in schema.get("oneOf", [])]
    return choices[0] if choices else VALUES[schema["type"]]


async def main() -> None:
    await run_steps(Program(Task(**json.loads(sys.argv[1]))).steps())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())
