"""Projects of users for tests of the pytest plugin, and how their tests are run."""

import pytest

SHOP = '''
import asyncio
from contextlib import asynccontextmanager

from assay import Context, Limits, Server, ToolError

started = []


@asynccontextmanager
async def lifespan(server):
    started.append("start")
    yield "ready"
    started.append("stop")


server = Server("shop", "1.0.0", lifespan=lifespan, limits=Limits(idle_timeout=300))


def make_server():
    return server


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def order(ctx: Context, item: str) -> str:
    """Order something."""
    form = {"type": "object", "properties": {"size": {"type": "string"}}}
    reply = await ctx.elicit("Which size?", form)
    if not reply.accepted:
        return f"no {item}: {reply.action}"
    joke = await ctx.sample("Tell a joke")
    roots = await ctx.roots()
    await ctx.log("warning", f"ordered {item}")
    await ctx.progress(1, total=2)
    return f"{item} in {reply.content['size']}, {joke.text}, {len(roots)} roots"


@server.tool
async def swallow(ctx: Context) -> str:
    """Ask, and ignore that there is no answer."""
    try:
        await ctx.elicit("Really?", {"type": "object", "properties": {}})
    except Exception:
        return "ignored"
    return "answered"


@server.tool
async def never() -> str:
    """Never ends."""
    await asyncio.Event().wait()
    return ""


@server.tool
async def grow() -> str:
    """Add a tool."""

    @server.tool
    async def grown() -> str:
        """New."""
        return ""

    return "grown"


@server.resource("shop://prices")
async def prices() -> str:
    return "1"


@server.prompt
async def advertise(product: str) -> str:
    return f"Sell {product}"
'''
# Loading the plugins of all installed packages would take longer than the tests.
BARE = ("-p", "assay.testing.plugin", "-p", "no:cacheprovider")
WITH_ASYNCIO = ("-p", "pytest_asyncio.plugin")
WITH_ANYIO = ("-p", "anyio.pytest_plugin")
STRICT = "asyncio_default_fixture_loop_scope = function\n"
ASYNCIO = f"asyncio_mode = auto\n{STRICT}"
SERVER = "assay_server = shop:server\n"


def run(
    pytester: pytest.Pytester,
    tests: str,
    *arguments: str,
    plugins: tuple[str, ...] = WITH_ASYNCIO,
    settings: str = ASYNCIO + SERVER,
) -> pytest.RunResult:
    """Run the tests of a project with the shop in it, in this process."""
    pytester.makepyfile(shop=SHOP, test_shop=tests)
    pytester.makeini(f"[pytest]\npythonpath = .\n{settings}")
    return pytester.runpytest_inprocess(*BARE, *plugins, *arguments)


def text(result: pytest.RunResult) -> str:
    return "\n".join([*result.outlines, *result.errlines])
