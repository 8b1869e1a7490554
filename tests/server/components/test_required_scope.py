"""Scopes: calls are refused before a handler runs, and lists leave out what the caller may not use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from assay import Context, RegistrationError, Scope, Server
from assay.model.error import INSUFFICIENT_SCOPE, InsufficientScope
from assay.model.result import Cache
from tests.driving.describing import describe
from tests.server.scripted import NEWEST

READ, WRITE, ADMIN = "files:read", "files:write", "admin"


class Shop:
    """A server whose handlers record that they ran."""

    def __init__(self, **options: Any) -> None:
        self.server = Server("shop", **options)
        self.ran: list[str] = []
        tool, resource, prompt = self.server.tool, self.server.resource, self.server.prompt
        tool(name="open")(self.leave("open"))
        tool(name="save", scopes=[WRITE])(self.leave("save"))
        tool(name="wipe", scopes=[WRITE, ADMIN])(self.leave("wipe"))
        resource("note://open")(self.leave("note://open"))
        resource("note://secret", scopes=[READ], cache=Cache(1000, "public"))(self.leave("note://secret"))
        resource("page://{name}", scopes=[READ])(self.leave_named)
        prompt(name="ask")(self.leave("ask"))
        prompt(name="plan", scopes=[READ])(self.leave_named)
        self.server.completion("plan", "name")(lambda value: self.ran.append("completion") or ["a"])
        self.server.completion("page://{name}", "name")(lambda value: self.ran.append("completion") or ["b"])
        self.server.method("stock/list", scopes=[READ])(self.leave("stock", {}))

    def leave(self, name: str, value: Any = "done") -> Callable[[], Any]:
        async def handler() -> Any:
            self.ran.append(name)
            return value

        return handler

    async def leave_named(self, name: str) -> str:
        self.ran.append(name)
        return "done"

    async def ask(self, granted: Iterable[str] | None, method: str, **params: Any) -> Any:
        scopes = None if granted is None else frozenset(granted)
        answer = await self.server.handle(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, scope=Scope(scopes=scopes)
        )
        assert answer is not None
        return json.loads(answer)


async def keep_quiet(line: bytes) -> None: ...


USES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("tools/call", {"name": "save", "arguments": {}}, [WRITE]),
    ("tools/call", {"name": "wipe", "arguments": {}}, [WRITE, ADMIN]),
    ("resources/read", {"uri": "note://secret"}, [READ]),
    ("resources/read", {"uri": "page://x"}, [READ]),
    ("prompts/get", {"name": "plan", "arguments": {"name": "x"}}, [READ]),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "plan"}, "argument": {"name": "name", "value": ""}},
        [READ],
    ),
    (
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "page://{name}"}, "argument": {"name": "name", "value": ""}},
        [READ],
    ),
    ("stock/list", {}, [READ]),
]
NAMES = [f"{method}:{next(iter(params.values()), '')}" for method, params, _ in USES]


@pytest.mark.parametrize(("method", "params", "needed"), USES, ids=NAMES)
async def test_call_without_the_scope_is_refused_before_the_handler_runs(
    method: str, params: dict[str, Any], needed: list[str]
) -> None:
    shop = Shop()
    for granted in ([], ["other"], needed[:-1]):
        error = (await shop.ask(granted, method, **params))["error"]
        assert (error["code"], error["data"]) == (INSUFFICIENT_SCOPE, {"scope": " ".join(needed)})
    assert shop.ran == []


@pytest.mark.parametrize(("method", "params", "needed"), USES, ids=NAMES)
async def test_call_with_the_scope_is_served(method: str, params: dict[str, Any], needed: list[str]) -> None:
    shop = Shop()
    assert "result" in await shop.ask([*needed, "more"], method, **params)
    assert len(shop.ran) == 1


@pytest.mark.parametrize(("method", "params", "needed"), USES, ids=NAMES)
async def test_everything_is_allowed_if_scopes_are_not_checked(
    method: str, params: dict[str, Any], needed: list[str]
) -> None:
    assert "result" in await Shop().ask(None, method, **params)


LISTS = [
    ("tools/list", "tools", "name", {"open"}, {"save", "wipe"}, [WRITE, ADMIN]),
    ("resources/list", "resources", "uri", {"note://open"}, {"note://secret"}, [READ]),
    ("resources/templates/list", "resourceTemplates", "uriTemplate", set(), {"page://{name}"}, [READ]),
    ("prompts/list", "prompts", "name", {"ask"}, {"plan"}, [READ]),
]


@pytest.mark.parametrize(("method", "key", "name", "everybody", "some", "needed"), LISTS)
async def test_lists_contain_what_the_caller_may_use(
    method: str, key: str, name: str, everybody: set[str], some: set[str], needed: list[str]
) -> None:
    shop = Shop()

    async def listed(granted: Iterable[str] | None) -> set[str]:
        return {item[name] for item in (await shop.ask(granted, method))["result"][key]}

    assert await listed([]) == everybody
    assert await listed(needed) == await listed(None) == everybody | some


@pytest.mark.parametrize(("page_size", "sizes"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (4, [3])])
async def test_hidden_components_do_not_shorten_pages(page_size: int, sizes: list[int]) -> None:
    """Five hidden tools before, between and after three listed ones."""
    server = Server("paged", page_size=page_size)
    for name in ("h1", "s1", "h2", "h3", "s2", "s3", "h4", "h5"):
        server.tools.add(lambda: None, name=name, scopes=[ADMIN] if name[0] == "h" else [])
    page_sizes, names, params = [], [], {}
    while True:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
        answer = await server.handle(message, scope=Scope(scopes=frozenset()))
        result = json.loads(answer or b"")["result"]
        page_sizes.append(len(result["tools"]))
        names += [tool["name"] for tool in result["tools"]]
        if "nextCursor" not in result:
            break
        params = {"cursor": result["nextCursor"]}
    assert (page_sizes, names) == (sizes, ["s1", "s2", "s3"])


async def test_a_cursor_works_for_any_caller() -> None:
    """It is a position, so a caller with more scopes continues from there."""
    server = Server("paged", page_size=1)
    for name in ("s1", "h1", "s2"):
        server.tools.add(lambda: None, name=name, scopes=[ADMIN] if name[0] == "h" else [])
    _, cursor = server.tools.registry.page(None, frozenset())
    (following,), _ = server.tools.registry.page(cursor, frozenset({ADMIN}))
    assert following.name == "h1"


async def cache_scope(shop: Shop, method: str, **params: Any) -> str:
    message = describe(method, params)
    answer = await shop.server.handle(message, send=keep_quiet, scope=Scope(scopes=frozenset({READ})))
    scope: str = json.loads(answer or b"")["result"]["cacheScope"]
    return scope


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("tools/list", {}, "private"),
        ("prompts/list", {}, "private"),
        ("resources/list", {}, "private"),
        ("resources/read", {"uri": "note://secret"}, "private"),
        ("server/discover", {}, "public"),
    ],
)
async def test_results_that_depend_on_the_caller_are_private(
    method: str, params: dict[str, Any], expected: str
) -> None:
    assert await cache_scope(Shop(), method, **params) == expected


async def test_a_list_that_is_the_same_for_all_stays_public() -> None:
    shop = Shop()
    for name in ("save", "wipe"):
        shop.server.tools.remove(name)
    assert await cache_scope(shop, "tools/list") == "public"


async def test_a_list_that_takes_a_scope_is_private() -> None:
    shop = Shop(scopes={"server/discover": [READ]})
    assert await cache_scope(shop, "server/discover") == "private"


async def test_challenge_names_the_scopes_of_method_and_target() -> None:
    shop = Shop(scopes={"tools/call": ["call"], "resources/read": ["call"], "prompts/get": ["call"]})
    params = {"name": "wipe", "arguments": {}}
    both = f"call {WRITE} {ADMIN}"
    assert (await shop.ask([], "tools/call", **params))["error"]["data"] == {"scope": both}
    assert (await shop.ask(["call"], "tools/call", **params))["error"]["data"] == {"scope": both}
    assert (await shop.ask([], "tools/call", name="open"))["error"]["data"] == {"scope": "call"}
    assert (await shop.ask([], "tools/call", name="none"))["error"]["data"] == {"scope": "call"}
    assert (await shop.ask([], "tools/call", name=5))["error"]["data"] == {"scope": "call"}
    page = await shop.ask([], "resources/read", uri="page://x")
    assert page["error"]["data"] == {"scope": f"call {READ}"}
    plan = await shop.ask([], "prompts/get", name="plan")
    assert plan["error"]["data"] == {"scope": f"call {READ}"}
    assert shop.ran == []
    assert "result" in await shop.ask(["call", WRITE, ADMIN], "tools/call", **params)


async def test_challenge_does_not_reveal_hidden_resources() -> None:
    server = Server("hiding", scopes={"resources/read": ["call"]})
    server.resource("x://1", scopes=[READ], access=lambda uri, scope: False)(lambda: "")
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "x://1"}}
    refused = json.loads(await server.handle(message, scope=Scope(scopes=frozenset())) or b"")
    assert refused["error"]["data"] == {"scope": "call"}
    hidden = json.loads(await server.handle(message, scope=Scope(scopes=frozenset({"call"}))) or b"")
    assert hidden["error"]["data"] == {"uri": "x://1"}


async def test_method_without_a_target_needs_its_scopes() -> None:
    shop = Shop(scopes={"tools/list": ["look"]})
    assert (await shop.ask([], "tools/list"))["error"]["data"] == {"scope": "look"}
    assert len((await shop.ask(["look"], "tools/list"))["result"]["tools"]) == 1


async def test_subscribing_needs_the_scopes_of_reading() -> None:
    shop = Shop()
    posted: list[bytes] = []
    session = shop.server.open_session(posted.append)
    scope = Scope(session=session, scopes=frozenset())

    async def send(method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.loads(await shop.server.handle(message, scope=scope) or b"")

    about = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    await send("initialize", **about)
    await shop.server.handle({"jsonrpc": "2.0", "method": "notifications/initialized"}, scope=scope)
    refused = await send("resources/subscribe", uri="note://secret")
    assert refused["error"]["code"] == INSUFFICIENT_SCOPE
    assert session.subscriptions == set()
    shop.server.close_session(session)


async def test_a_handler_sees_the_principal_and_may_require_scopes() -> None:
    server = Server("asking")
    captured: list[Any] = []

    @server.tool(scopes=[READ])
    async def read(path: str, ctx: Context) -> str:
        captured.append((ctx.principal, ctx.scopes))
        if path.startswith("private/"):
            ctx.require(ADMIN)
        return "text"

    async def call(path: str, *granted: str) -> Any:
        params = {"name": "read", "arguments": {"path": path}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        scope = Scope(principal="ann", scopes=frozenset(granted))
        return json.loads(await server.handle(message, scope=scope) or b"")

    assert "result" in await call("public/a", READ)
    assert captured == [("ann", frozenset({READ}))]
    assert (await call("private/a", READ))["error"]["data"] == {"scope": f"{READ} {ADMIN}"}
    assert "result" in await call("private/a", READ, ADMIN)


async def test_a_handler_may_do_without_a_missing_scope() -> None:
    server = Server("asking")

    @server.tool
    async def read(ctx: Context) -> str:
        with pytest.raises(InsufficientScope):
            ctx.require(ADMIN)
        ctx.require(READ)
        ctx.require(WRITE)
        return "text"

    async def call(*granted: str) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}
        return json.loads(await server.handle(message, scope=Scope(scopes=frozenset(granted))) or b"")

    assert (await call(READ, WRITE))["result"]["content"][0]["text"] == "text"
    assert (await call(READ))["error"]["data"] == {"scope": f"{READ} {WRITE}"}


@pytest.mark.parametrize("scopes", ["write", ["two words"], ['quo"te'], ["back\\slash"], [""], [5], ["é"]])
def test_invalid_scopes_are_refused(scopes: Any) -> None:
    server = Server("wrong")
    with pytest.raises(RegistrationError, match="scope"):
        server.tool(name="t", scopes=scopes)(lambda: None)
    with pytest.raises(RegistrationError, match="scope"):
        server.resource("x://1", name="r", scopes=scopes)(lambda: "")
    with pytest.raises(RegistrationError, match="scope"):
        server.prompt(name="p", scopes=scopes)(lambda: "")
    with pytest.raises(RegistrationError, match="scope"):
        server.method("a/b", scopes=scopes)(lambda: {})
    with pytest.raises(RegistrationError, match="scope"):
        Server("wrong", scopes={"tools/call": scopes})


def test_scopes_for_an_unknown_method_are_refused() -> None:
    with pytest.raises(RegistrationError, match="'tool/call'"):
        Server("wrong", scopes={"tool/call": ["call"]})
