"""The client of fastmcp, used for every feature of our servers.

It runs once with a handshake and once on the newest revision, which fastmcp requests by default. Features
without a method of `Client` use its `session`.
"""

import asyncio
import warnings
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

import mcp_types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.logging import LogMessage
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError
from mcp import MCPDeprecationWarning
from mcp.client.subscriptions import listen
from report import (
    LOG_LEVEL,
    PER_REQUEST,
    SILENCE,
    NoApi,
    Step,
    Targets,
    expect,
    expect_silence,
    run_steps,
    text_of,
)
from wire import Wire

WATCHED = "test://watched-resource"
PNG = b"\x89PNG"


class Updates(MessageHandler):
    """Collects the URIs of updated resources."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[str] = asyncio.Queue()

    async def on_resource_updated(self, message: types.ResourceUpdatedNotification) -> None:
        self.inbox.put_nowait(str(message.params.uri))


class Answer(types.Result):
    """The common part of the `models/list` and `models/select` results."""

    active: str


class Program:
    """Most features share one connection; those that close it open another."""

    def __init__(self, targets: Targets, connections: AsyncExitStack) -> None:
        self.targets = targets
        self.connections = connections
        self.logs: list[str] = []
        self.updates = Updates()
        self.questions: list[str] = []

    def client(self, target: list[str] | str | StreamableHttpTransport) -> Client[Any]:
        server: Any = target
        if isinstance(target, list):
            server = StdioTransport(target[0], target[1:], keep_alive=False)
        return Client(
            server,
            mode=self.targets.mode,
            sampling_handler=self.on_sampling,
            elicitation_handler=self.on_elicitation,
            log_handler=self.on_log,
            message_handler=self.updates,
        )

    async def open(self) -> None:
        self.everything = await self.connections.enter_async_context(self.client(self.targets.everything))
        self.fixture = await self.connections.enter_async_context(self.client(self.targets.fixture))

    async def on_sampling(self, messages: list[Any], _params: Any, _context: Any) -> str:
        self.questions.append(messages[0].content.text)
        return "sampled by the client"

    async def on_elicitation(self, message: str, form: Any, _params: Any, _context: Any) -> ElicitResult[Any]:
        self.questions.append(message)
        return ElicitResult(action="accept", content=form(username="ada", email="ada@example.org"))

    async def on_log(self, message: LogMessage) -> None:
        self.logs.append(str(message.data))

    async def text(self, tool: str, **arguments: Any) -> str:
        return text_of((await self.everything.call_tool(tool, arguments)).content)

    async def connect(self) -> str:
        async with self.client(self.targets.everything) as client:
            assert client.server_info is not None
            expect(client.server_info.name, "mcp-conformance-test-server", "server name")
            await client.list_tools()
            expect(client.protocol_version, self.targets.revision, "negotiated")
        expect(self.everything.protocol_version, self.targets.revision, "negotiated by the other connection")
        return f"negotiated {self.targets.revision}"

    async def tools(self) -> str:
        names = [tool.name for tool in await self.everything.list_tools()]
        assert "test_simple_text" in names, names
        expect(await self.text("test_simple_text"), "This is a simple text response for testing.", "text")
        return f"{len(names)} tools"

    async def image(self) -> str:
        (block,) = (await self.everything.call_tool("test_image_content")).content
        assert isinstance(block, types.ImageContent), block
        assert b64decode(block.data).startswith(PNG), block.data
        return block.mime_type

    async def tool_error(self) -> str:
        try:
            await self.everything.call_tool("test_error_handling")
        except ToolError as error:
            expect(str(error), "This tool intentionally returns an error for testing", "error")
            return "raised ToolError"
        raise AssertionError("no error was raised")

    async def resources(self) -> str:
        listed = [str(resource.uri) for resource in await self.everything.list_resources()]
        assert "test://static-text" in listed, listed
        (text,) = await self.everything.read_resource("test://static-text")
        assert isinstance(text, types.TextResourceContents) and "static text" in text.text, text
        (blob,) = await self.everything.read_resource("test://static-binary")
        assert isinstance(blob, types.BlobResourceContents) and b64decode(blob.blob).startswith(PNG), blob
        return f"{len(listed)} resources"

    async def templates(self) -> str:
        (template,) = await self.everything.list_resource_templates()
        expect(template.uri_template, "test://template/{id}/data", "template")
        (data,) = await self.everything.read_resource("test://template/42/data")
        assert isinstance(data, types.TextResourceContents) and "Data for ID: 42" in data.text, data
        return str(template.uri_template)

    async def prompts(self) -> str:
        names = [prompt.name for prompt in await self.everything.list_prompts()]
        arguments = {"arg1": "one", "arg2": "two"}
        prompt = await self.everything.get_prompt("test_prompt_with_arguments", arguments)
        text = text_of([prompt.messages[0].content])
        expect(text, "Prompt with arguments: arg1='one', arg2='two'", "prompt")
        return f"{len(names)} prompts"

    async def completion(self) -> str:
        prompt = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
        suggestions = await self.everything.complete(prompt, {"name": "arg1", "value": "par"})
        expect(set(suggestions.values), {"paris", "park", "party"}, "values")
        return ", ".join(suggestions.values)

    async def logging(self) -> str:
        self.logs.clear()
        await self.log_at("info")
        expect(len(self.logs), 3, "messages at level info")
        await self.log_at("error")
        expect(len(self.logs), 3, "messages after level error")
        return "3 messages at info, none at error"

    async def log_at(self, level: types.LoggingLevel) -> None:
        """Call the tool that logs, with the level for the session or for the call, by the revision."""
        meta: Any = {LOG_LEVEL: level}
        if self.targets.revision != PER_REQUEST:
            await self.everything.set_logging_level(level)
            meta = None
        await self.everything.call_tool("test_tool_with_logging", {}, meta=meta)
        await asyncio.sleep(SILENCE)

    async def progress(self) -> str:
        reports: list[tuple[float, float | None]] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            reports.append((progress, total))

        await self.everything.call_tool("test_tool_with_progress", progress_handler=on_progress)
        expect(reports, [(0, 100), (50, 100), (100, 100)], "progress")
        return "0, 50, 100 of 100"

    async def subscription(self) -> str:
        async with self.subscribed():
            await self.text("test_update_watched_resource", text="changed by fastmcp")
            expect(await self.updates.inbox.get(), WATCHED, "updated")
            (text,) = await self.everything.read_resource(WATCHED)
            assert isinstance(text, types.TextResourceContents)
            expect(text.text, "changed by fastmcp", "text")
        await self.text("test_update_watched_resource", text="changed again")
        await expect_silence(self.updates.inbox)
        return "updated once, silent after the subscription ended"

    @asynccontextmanager
    async def subscribed(self) -> AsyncIterator[None]:
        """Subscribe to the watched resource as the revision requires."""
        if self.targets.revision == PER_REQUEST:
            async with listen(self.everything.session, resource_subscriptions=[WATCHED]):
                yield
            # The SDK cancels in the background and might send the next call first.
            await asyncio.sleep(SILENCE)
            return
        await self.everything.session.subscribe_resource(WATCHED)
        yield
        await self.everything.session.unsubscribe_resource(WATCHED)

    async def sampling(self) -> str:
        self.questions.clear()
        text = await self.text("test_sampling", prompt="a question")
        expect((text, self.questions), ("LLM response: sampled by the client", ["a question"]), "sampling")
        return text

    async def elicitation(self) -> str:
        self.questions.clear()
        text = await self.text("test_elicitation", message="who are you?")
        expect(self.questions, ["who are you?"], "asked")
        assert "action=accept" in text and "ada@example.org" in text, text
        return text

    async def cancel(self) -> str:
        token, running = uuid4().hex, asyncio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            running.set()

        call = self.fixture.call_tool("last", {"token": token}, progress_handler=on_progress)
        task = asyncio.create_task(call)
        await running.wait()
        task.cancel()
        answer = await self.fixture.call_tool("await_cancelled", {"token": token})
        expect(text_of(answer.content), "cancelled", "state of the call")
        return "by cancelling the awaiting task"

    async def pagination(self) -> str:
        names, sizes, cursor = [], [], None
        while True:
            page = await self.fixture.list_tools_mcp(cursor=cursor)
            names += [tool.name for tool in page.tools]
            sizes.append(len(page.tools))
            if (cursor := page.next_cursor) is None:
                break
        expect(sizes, [2, 2, 1], "pages")
        expect([tool.name for tool in await self.fixture.list_tools()], names, "tools of all pages")
        expect(len(set(names)), 5, "tools")
        return "5 tools on 3 pages"

    async def reconnect(self) -> str:
        client = self.client(self.targets.everything)
        for _ in range(2):
            async with client:
                await client.call_tool("test_simple_text")
        return "the same client, closed and opened again"

    async def polling(self) -> str:
        async with self.watched(self.targets.everything, "stdio has no streams to close and poll") as client:
            text = text_of((await client.call_tool("test_reconnection")).content)
        assert text.startswith("Reconnection test completed successfully"), text
        self.wire.expect_resumption()
        return "returned for the answer"

    async def resume(self) -> str:
        token, reports = uuid4().hex, []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            reports.append(progress)

        without = "stdio cannot lose its connection and keep its server"
        async with self.watched(self.targets.relayed, without) as client:
            result = await client.call_tool("interrupted", {"token": token}, progress_handler=on_progress)
        expect(text_of(result.content), f"answered after the cut: {token}", "answer")
        expect(reports, [1, 2], "progress")
        self.wire.expect_resumption()
        return "answer and progress after the cut"

    async def delete_session(self) -> str:
        async with self.watched(self.targets.everything, "stdio has no session to delete") as client:
            await client.list_tools()
        await self.wire.expect_deleted(str(self.targets.everything))
        return "404 afterwards"

    @asynccontextmanager
    async def watched(self, url: list[str] | str | None, without: str) -> AsyncIterator[Client[Any]]:
        """Connect over HTTP with a client that `self.wire` watches; closing it deletes the session."""
        if not isinstance(url, str):
            raise NoApi(without)
        self.targets.demand_sessions()
        self.wire = Wire()
        factory: Any = self.wire.client
        transport = StreamableHttpTransport(url, httpx_client_factory=factory)
        async with self.client(transport) as client:
            yield client

    async def reference_server(self) -> str:
        """Its capabilities contain keys that no SDK knows."""
        async with self.client(self.targets.reference) as client:
            assert client.server_info is not None
            expect(client.server_info.name, "RefMCP-TestServer", "server name")
            total = await client.call_tool("sum", {"a": 7, "b": 8})
            expect(total.structured_content, {"total": 15}, "sum")
            weather = await client.call_tool("get_weather", {"location": "Phoenix"})
            assert "85°F" in text_of(weather.content), weather
            todo = await client.read_resource("file:///resources/todo.txt")
            assert "List the tools" in text_of(todo), todo
            prompt = await client.get_prompt("code_review", {"code": "x = 1", "language": "Rust"})
            text = text_of([prompt.messages[0].content])
            expect(text, "Please review this Rust code:\nx = 1", "prompt")
        return "tools, a resource, a prompt"

    async def own_methods(self) -> str:
        """Custom methods, through the SDK's generic request function."""
        async with self.client(self.targets.reference) as client:
            for name in ("claude-v2", "gpt-4"):
                params = {"name": name}
                select = types.Request[Any, Any](method="models/select", params=params)
                expect((await client.session.send_request(select, Answer)).active, name, "selected")
                listed = types.Request[Any, Any](method="models/list", params={})
                expect((await client.session.send_request(listed, Answer)).active, name, "active")
        return "models/select, models/list"

    def steps(self) -> dict[str, Step]:
        return {
            "connect": self.connect,
            "tools": self.tools,
            "image": self.image,
            "tool error": self.tool_error,
            "resources": self.resources,
            "templates": self.templates,
            "prompts": self.prompts,
            "completion": self.completion,
            "logging": self.logging,
            "progress": self.progress,
            "subscription": self.subscription,
            "sampling": self.sampling,
            "elicitation": self.elicitation,
            "cancel": self.cancel,
            "pagination": self.pagination,
            "reconnect": self.reconnect,
            "polling": self.polling,
            "resume": self.resume,
            "delete session": self.delete_session,
            "reference server": self.reference_server,
            "own methods": self.own_methods,
        }


async def main() -> None:
    async with AsyncExitStack() as connections:
        program = Program(Targets.from_arguments(), connections)
        await program.open()
        await run_steps(program.steps())


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(main())
