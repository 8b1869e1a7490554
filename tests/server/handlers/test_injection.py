"""Dependencies of handlers: their values, their order, their clean-up, and what replaces them in tests."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from assay import Context, Depends, RegistrationError, Server, ToolError
from tests.driving.describing import describe
from tests.driving.process import script, stdio_process
from tests.server.scripted import ScriptedClient, ask, call, finished, reached

EVENTS: list[str] = []


@pytest.fixture(autouse=True)
def no_events() -> None:
    EVENTS.clear()


def text_of(result: Any) -> str:
    text: str = result["content"][0]["text"]
    return text


async def coroutine() -> str:
    return "value"


def function() -> str:
    return "value"


async def async_generator() -> AsyncIterator[str]:
    EVENTS.append("open")
    try:
        yield "value"
    except BaseException as error:
        EVENTS.append(type(error).__name__)
        raise
    finally:
        EVENTS.append("close")


def generator() -> Iterator[str]:
    EVENTS.append("open")
    try:
        yield "value"
    except BaseException as error:
        EVENTS.append(type(error).__name__)
        raise
    finally:
        EVENTS.append("close")


class AsyncCallable:
    async def __call__(self) -> str:
        return "value"


@functools.lru_cache
def cached() -> str:
    return "value"


PLAIN: dict[str, Callable[..., Any]] = {
    "coroutine function": coroutine,
    "function": function,
    "object": AsyncCallable(),
    "partial": functools.partial(lambda text: text, "value"),
    "lru_cache": cached,
}
YIELDING: dict[str, Callable[..., Any]] = {
    "async generator": async_generator,
    "generator": generator,
    "async context manager": asynccontextmanager(async_generator),
    "context manager": contextmanager(generator),
    "partial of a generator": functools.partial(generator),
}
ALL = PLAIN | YIELDING
EVERY_KIND = pytest.mark.parametrize("provide", ALL.values(), ids=ALL)
EVERY_YIELDING = pytest.mark.parametrize("provide", YIELDING.values(), ids=YIELDING)
BOTH_HANDLERS = pytest.mark.parametrize("is_async", [True, False], ids=["async def", "def"])


def make_server(provide: Callable[..., Any], is_async: bool, work: Callable[[str], str] = str) -> Server:
    server = Server("test")
    if is_async:

        @server.tool(name="use")
        async def use_async(number: int, value: Annotated[str, Depends(provide)]) -> str:
            EVENTS.append("handler")
            return f"{work(value)} {number}"

    else:

        @server.tool(name="use")
        def use(number: int, value: Annotated[str, Depends(provide)]) -> str:
            EVENTS.append("handler")
            return f"{work(value)} {number}"

    return server


@EVERY_KIND
@BOTH_HANDLERS
async def test_handler_gets_the_value(provide: Callable[..., Any], is_async: bool) -> None:
    assert text_of(await call(make_server(provide, is_async), "use", {"number": 1})) == "value 1"


@EVERY_YIELDING
@BOTH_HANDLERS
async def test_clean_up_follows_the_handler(provide: Callable[..., Any], is_async: bool) -> None:
    await call(make_server(provide, is_async), "use", {"number": 1})
    assert EVENTS == ["open", "handler", "close"]


@EVERY_YIELDING
@BOTH_HANDLERS
async def test_clean_up_sees_the_exception_of_the_handler(
    provide: Callable[..., Any], is_async: bool
) -> None:
    def fail(value: str) -> str:
        raise ToolError("no luck")

    result = await call(make_server(provide, is_async, fail), "use", {"number": 1})
    assert (text_of(result), result["isError"]) == ("no luck", True)
    assert EVENTS == ["open", "handler", "ToolError", "close"]


@pytest.mark.parametrize("provide", [async_generator, generator])
async def test_clean_up_follows_a_cancellation(provide: Callable[..., Any]) -> None:
    server, begun = Server("test"), asyncio.Event()

    @server.tool
    async def hold(value: Annotated[str, Depends(provide)]) -> str:
        begun.set()
        await asyncio.Event().wait()
        return value

    async with ScriptedClient(server) as client:
        holding = client.start_call("hold")
        await reached(begun)
        await client.cancel(2)
        await finished(holding)
    assert EVENTS == ["open", "CancelledError", "close"]


async def test_thread_of_a_cancelled_call_keeps_its_dependencies() -> None:
    server, begun, release = Server("test"), threading.Event(), threading.Event()
    ended = threading.Event()

    @contextmanager
    def provide() -> Iterator[str]:
        yield "value"
        EVENTS.append("close")
        ended.set()

    @server.tool
    def hold(value: Annotated[str, Depends(provide)]) -> str:
        begun.set()
        release.wait()
        EVENTS.append("used")
        return value

    async with ScriptedClient(server) as client:
        holding = client.start_call("hold")
        await asyncio.to_thread(begun.wait)
        await client.cancel(2)
        await finished(holding)
        assert EVENTS == []
        release.set()
        await asyncio.to_thread(ended.wait)
    assert EVENTS == ["used", "close"]


STUCK = """
import threading
from collections.abc import Iterator
from typing import Annotated
from assay import Depends, Limits, Server

server = Server("stuck", limits=Limits(drain=0.01))

def stuck() -> Iterator[None]:
    {before}
    yield
    {after}

@server.tool
async def use(nothing: Annotated[None, Depends(stuck)]) -> str:
    return "used"

server.run()
"""
BLOCK = 'print("blocks", flush=True); threading.Event().wait()'


@pytest.mark.parametrize(("before", "after"), [(BLOCK, ""), ("", BLOCK)], ids=["opening", "closing"])
async def test_stuck_dependency_does_not_keep_a_stopped_server_alive(
    before: str, after: str, tmp_path: Path
) -> None:
    text = STUCK.format(before=before, after=after)
    async with stdio_process(*script(tmp_path / "server.py", text)) as process:
        await process.send(describe("tools/call", {"name": "use"}))
        process.end_input()
        (answer,) = await process.rest()
        assert answer["error"]["message"] == "the server is stopping"
        assert await process.exit_code() == 0
    assert b"blocks" in process.errors


async def test_call_cancelled_while_a_thread_opens_is_cleaned_up() -> None:
    server, opening, release = Server("test"), threading.Event(), threading.Event()

    def provide() -> Iterator[str]:
        opening.set()
        release.wait()
        EVENTS.append("open")
        yield "value"

    async def after(value: Annotated[str, Depends(provide)]) -> AsyncIterator[str]:
        EVENTS.append("must not be opened")
        yield value

    def closing() -> Iterator[None]:
        try:
            yield
        finally:
            EVENTS.append("close first")

    @server.tool
    async def use(first: Annotated[None, Depends(closing)], value: Annotated[str, Depends(after)]) -> str:
        return value

    async with ScriptedClient(server) as client:
        using = client.start_call("use")
        await asyncio.to_thread(opening.wait)
        cancelling = asyncio.create_task(client.cancel(2))
        await cancelling
        release.set()
        await finished(using)
    assert EVENTS == ["open", "close first"]


@BOTH_HANDLERS
async def test_dependencies_are_shared_nested_and_cleaned_up_in_reverse(is_async: bool) -> None:
    server = Server("test")

    def first(ctx: Context) -> Iterator[str]:
        EVENTS.append("open first")
        yield f"first of {ctx.request_id}"
        EVENTS.append("close first")

    def second(value: Annotated[str, Depends(first)]) -> Iterator[str]:
        EVENTS.append("open second")
        yield f"second after {value}"
        EVENTS.append("close second")

    def use(b: str = Depends(second), a: str = Depends(first)) -> str:
        return f"{a}, {b}"

    async def use_async(b: str = Depends(second), a: str = Depends(first)) -> str:
        return f"{a}, {b}"

    server.tool(name="use")(use_async if is_async else use)
    assert text_of(await call(server, "use")) == "first of 1, second after first of 1"
    assert EVENTS == ["open first", "open second", "close second", "close first"]


async def test_def_handler_and_def_dependencies_share_one_thread() -> None:
    server = Server("test")
    threads: set[int] = set()

    def provide() -> Iterator[None]:
        threads.add(threading.get_ident())
        yield
        threads.add(threading.get_ident())

    @server.tool
    def use(value: Annotated[None, Depends(provide)]) -> None:
        threads.add(threading.get_ident())

    await call(server, "use")
    assert len(threads) == 1 and threading.get_ident() not in threads


async def test_def_dependency_of_an_async_handler_runs_in_a_thread() -> None:
    server = Server("test")

    @server.tool
    async def use(thread: Annotated[int, Depends(threading.get_ident)]) -> bool:
        return thread == threading.get_ident()

    assert (await call(server, "use"))["structuredContent"] == {"result": False}


async def test_same_context_reaches_handler_and_dependencies() -> None:
    server = Server("test")

    async def provide(ctx: Context | None) -> int:
        return id(ctx)

    @server.tool
    async def use(ctx: Context, other: Annotated[int, Depends(provide)]) -> bool:
        return id(ctx) == other

    assert (await call(server, "use"))["structuredContent"] == {"result": True}


async def test_every_kind_of_handler_may_have_dependencies() -> None:
    server = Server("test")
    Value = Annotated[str, Depends(async_generator)]

    @server.prompt
    async def prompt(name: str, value: Value) -> str:
        return f"{name} {value}"

    @server.resource("test://static")
    async def static(value: Value) -> str:
        return value

    @server.resource("test://{name}")
    def template(name: str, value: Value) -> str:
        return f"{name} {value}"

    @server.completion("prompt", "name")
    async def complete(value: str, provided: Value) -> list[str]:
        return [provided]

    @server.method("own/method")
    async def method(name: str, value: Value) -> dict[str, str]:
        return {name: value}

    assert server.prompts.list()[0].arguments[0].name == "name"  # type: ignore[index]
    got = await ask(server, "prompts/get", name="prompt", arguments={"name": "x"})
    assert got["result"]["messages"][0]["content"]["text"] == "x value"
    for uri, text in (("test://static", "value"), ("test://x", "x value")):
        assert (await ask(server, "resources/read", uri=uri))["result"]["contents"][0]["text"] == text
    reference = {"type": "ref/prompt", "name": "prompt"}
    completed = await ask(
        server, "completion/complete", ref=reference, argument={"name": "name", "value": "v"}
    )
    assert completed["result"]["completion"]["values"] == ["value"]
    assert (await ask(server, "own/method", name="x"))["result"] == {"x": "value"}


async def test_clients_neither_see_nor_set_a_dependency() -> None:
    server = make_server(coroutine, True)
    (tool,) = server.tools.list()
    assert list(tool.input_schema["properties"]) == ["number"]
    result = await call(server, "use", {"number": 1, "value": "mine"})
    assert result["isError"]


async def test_own_schema_does_not_let_clients_set_a_dependency() -> None:
    server = Server("test")

    @server.tool(input_schema={"type": "object"})
    async def use(value: Annotated[str, Depends(coroutine)], **more: Any) -> str:
        return f"{value} {more}"

    assert text_of(await call(server, "use", {"value": "mine", "x": 1})) == "value {'x': 1}"


@dataclass
class Settings:
    greeting: Annotated[str, Depends(coroutine)]
    most: int = 3


async def test_class_is_called_with_its_dependencies() -> None:
    server = Server("test")

    @server.tool
    async def use(settings: Annotated[Settings, Depends()]) -> str:
        return f"{settings.greeting} {settings.most}"

    assert text_of(await call(server, "use")) == "value 3"


async def test_dependency_may_end_the_call(caplog: pytest.LogCaptureFixture) -> None:
    async def refuse() -> str:
        raise ToolError("not you")

    assert text_of(await call(make_server(refuse, True), "use", {"number": 1})) == "not you"
    assert EVENTS == []


async def test_failed_clean_up_fails_the_call() -> None:
    async def provide() -> AsyncIterator[str]:
        yield "value"
        raise ToolError("cannot commit")

    result = await call(make_server(provide, True), "use", {"number": 1})
    assert (text_of(result), result["isError"]) == ("cannot commit", True)


@BOTH_HANDLERS
async def test_dependency_cannot_swallow_an_exception(is_async: bool) -> None:
    def fail(value: str) -> str:
        raise ToolError("no luck")

    def provide() -> Iterator[str]:
        try:
            yield "value"
        except ToolError:
            EVENTS.append("caught")

    result = await call(make_server(provide, is_async, fail), "use", {"number": 1})
    assert (text_of(result), EVENTS) == ("no luck", ["handler", "caught"])


async def none_at_all() -> AsyncIterator[str]:
    return
    yield


async def two() -> AsyncIterator[str]:
    yield "one"
    yield "two"


def two_in_a_thread() -> Iterator[str]:
    yield "one"
    yield "two"


def forgot_async() -> Any:
    return coroutine()


@pytest.mark.parametrize(
    ("provide", "problem"),
    [
        (none_at_all, "dependency none_at_all did not yield: a dependency yields its value once"),
        (two, "dependency two yielded twice: a dependency yields its value once"),
        (two_in_a_thread, "dependency two_in_a_thread yielded twice"),
        (forgot_async, "dependency forgot_async returned a coroutine: declare it with `async def`"),
    ],
)
@BOTH_HANDLERS
async def test_wrong_dependency_is_named_in_the_log(
    provide: Callable[..., Any], problem: str, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await call(make_server(provide, is_async), "use", {"number": 1}))["isError"]
    assert problem in caplog.text


async def test_dependencies_count_against_the_limit_of_their_handler() -> None:
    server, begun, release = Server("test"), asyncio.Event(), asyncio.Event()

    async def provide() -> str:
        EVENTS.append("open")
        begun.set()
        await release.wait()
        return "value"

    @server.tool(concurrency=1)
    async def use(value: Annotated[str, Depends(provide)]) -> str:
        return value

    first = asyncio.create_task(call(server, "use"))
    await reached(begun)
    second = asyncio.create_task(call(server, "use"))
    await asyncio.wait([second], timeout=0)
    assert EVENTS == ["open"]
    release.set()
    await asyncio.gather(first, second)
    assert EVENTS == ["open", "open"]


# Overrides


async def test_override_applies_inside_the_block() -> None:
    server = make_server(async_generator, True)
    with server.override(async_generator, lambda: "fake"):
        assert text_of(await call(server, "use", {"number": 1})) == "fake 1"
    assert text_of(await call(server, "use", {"number": 1})) == "value 1"
    assert server.dependency_overrides == {}


@BOTH_HANDLERS
async def test_override_may_be_of_another_kind(is_async: bool) -> None:
    server = make_server(function, is_async)
    with server.override(function, async_generator):
        assert text_of(await call(server, "use", {"number": 1})) == "value 1"
    assert EVENTS == ["open", "handler", "close"]


async def test_override_reaches_nested_dependencies_and_may_use_the_original() -> None:
    server = Server("test")

    async def inner() -> str:
        return "inner"

    async def outer(value: Annotated[str, Depends(inner)]) -> str:
        return f"outer of {value}"

    async def fake(original: Annotated[str, Depends(inner)]) -> str:
        return f"fake of {original}"

    @server.tool
    async def use(value: Annotated[str, Depends(outer)]) -> str:
        return value

    with server.override(inner, fake):
        assert text_of(await call(server, "use")) == "outer of fake of inner"


async def test_inner_block_restores_the_outer_override() -> None:
    server = make_server(function, True)
    with server.override(function, lambda: "outer"):
        with server.override(function, lambda: "inner"):
            assert text_of(await call(server, "use", {"number": 1})) == "inner 1"
        assert text_of(await call(server, "use", {"number": 1})) == "outer 1"


async def test_overrides_may_be_set_like_in_fastapi() -> None:
    server = make_server(function, True)
    server.dependency_overrides[function] = lambda: "fake"
    assert text_of(await call(server, "use", {"number": 1})) == "fake 1"
    server.dependency_overrides = {}
    assert text_of(await call(server, "use", {"number": 1})) == "value 1"


def test_override_that_cannot_work_is_refused_at_once() -> None:
    server = Server("test")

    def needs_a_value(name: str) -> str:
        return name

    with pytest.raises(TypeError, match="for a value, write lambda: value"), server.override(function, 3):  # type: ignore[arg-type]
        pass
    with (
        pytest.raises(
            RegistrationError, match="dependency needs_a_value: parameter name cannot be filled in"
        ),
        server.override(function, needs_a_value),
    ):
        pass
