"""Apps of a server: pages, links of tools to them, and who gets to see them."""

from __future__ import annotations

import json
import logging
from typing import Any

import msgspec
import pytest

from assay import (
    AppPage,
    Client,
    Contents,
    Csp,
    InvalidAnswer,
    RegistrationError,
    Server,
    ToolDefinition,
    ToolUi,
)
from assay.client.apps import read_app, with_apps
from assay.model.app import MIME_TYPE
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.driving.describing import describe

PAGE = "ui://shop/cart"
HTML = "<!doctype html><title>Cart</title>"
REVISIONS = [HANDSHAKE[-1].date, PER_REQUEST[-1].date]
in_each_era = pytest.mark.parametrize("revision", REVISIONS)
APP_CAPABILITIES = with_apps(None)
NAME = "io.modelcontextprotocol/ui"


async def write_text() -> str:
    return "text"


def shop(**options: Any) -> Server:
    server = Server("shop")

    @server.ui(PAGE, **options)
    async def cart_page() -> str:
        return HTML

    @server.tool(ui=PAGE)
    async def show_cart() -> str:
        return "2 apples"

    @server.tool(ui=ToolUi(PAGE, visibility=["app"]))
    async def remove_item() -> str:
        return "1 apple"

    @server.tool
    async def plain() -> str:
        return "plain"

    return server


async def listed(server: Server, capabilities: dict[str, Any], revision: str) -> dict[str, Any]:
    async with Client(server, revision=revision, capabilities=capabilities) as client:
        return {tool.name: tool.meta for tool in await client.tools()}


async def read_page(server: Server, capabilities: dict[str, Any], revision: str = REVISIONS[1]) -> Any:
    async with Client(server, revision=revision, capabilities=capabilities) as client:
        (contents,) = await client.read(PAGE)
        return contents


@in_each_era
async def test_clients_that_show_pages_get_links_and_metadata(revision: str) -> None:
    csp = Csp(connect=["https://api.example.com"], resource=["https://*.example.com:8443"])
    server = shop(csp=csp, permissions=["clipboard_write"], domain="cart.example.com", border=False)
    assert await listed(server, APP_CAPABILITIES, revision) == {
        "show_cart": {"ui": {"resourceUri": PAGE}},
        "remove_item": {"ui": {"resourceUri": PAGE, "visibility": ["app"]}},
        "plain": None,
    }
    contents = await read_page(server, APP_CAPABILITIES, revision)
    assert (contents.uri, contents.text, contents.mime_type) == (PAGE, HTML, MIME_TYPE)
    assert contents.meta["ui"] == {
        "csp": {
            "connectDomains": ["https://api.example.com"],
            "resourceDomains": ["https://*.example.com:8443"],
        },
        "permissions": {"clipboardWrite": {}},
        "domain": "cart.example.com",
        "prefersBorder": False,
    }


@in_each_era
@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {}},
        {"extensions": {NAME: {}}},
        {"extensions": {NAME: {"mimeTypes": ["text/html"]}}},
        {"extensions": {NAME: {"mimeTypes": MIME_TYPE}}},
    ],
    ids=str,
)
async def test_other_clients_see_plain_tools_only(revision: str, capabilities: dict[str, Any]) -> None:
    server = shop(border=True)
    assert await listed(server, capabilities, revision) == {"show_cart": None, "plain": None}
    assert (await read_page(server, capabilities, revision)).meta is None


async def test_lists_that_depend_on_the_client_are_private() -> None:
    answer = json.loads(await shop().handle(describe("tools/list")) or b"")
    assert answer["result"]["cacheScope"] == "private"


async def test_other_metadata_of_a_tool_stays() -> None:
    server = shop()
    server.tools.add(write_text, name="tagged", ui=PAGE, tags={"beta"})
    tags = {"fastmcp": {"tags": ["beta"]}}
    assert (await listed(server, {}, REVISIONS[1]))["tagged"] == tags
    shown = await listed(server, APP_CAPABILITIES, REVISIONS[1])
    assert shown["tagged"] == {**tags, "ui": {"resourceUri": PAGE}}


async def test_a_link_to_nothing_is_left_out_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("shop")

    @server.tool(ui="ui://shop/none")
    async def show() -> str:
        return "text"

    with caplog.at_level(logging.WARNING, logger="assay"):
        for _ in range(2):
            assert await listed(server, APP_CAPABILITIES, REVISIONS[1]) == {"show": None}
    (record,) = [record for record in caplog.records if "ui://shop/none" in record.getMessage()]
    assert "tool show" in record.getMessage()


async def test_a_template_is_a_page_for_each_of_its_uris() -> None:
    server = Server("shop")

    @server.ui("ui://shop/{item}", border=True)
    async def page(item: str) -> str:
        return f"<!doctype html><title>{item}</title>"

    @server.tool(ui="ui://shop/apple")
    async def show() -> str:
        return "text"

    async with Client(server, apps=True) as client:
        (tool,) = await client.tools()
        page_of_apple = await client.app(tool)
    assert page_of_apple is not None
    assert ("apple" in page_of_apple.html, page_of_apple.border) == (True, True)


@pytest.mark.parametrize(
    ("register", "problem"),
    [
        (lambda server: server.ui("https://x/y")(lambda: ""), "must begin with ui://"),
        (lambda server: server.ui("ui://")(lambda: ""), "must begin with ui://"),
        (lambda server: server.ui(shop), "needs a URI"),
        (lambda server: server.ui(PAGE)(lambda: ""), "already has"),
        (lambda server: server.ui("ui://a", permissions=["usb"]), "permissions is a list"),
        (lambda server: server.ui("ui://a", permissions="camera"), "permissions is a list"),
        (lambda server: server.ui("ui://a", domain="a.example; x"), "domain is a host name"),
        (lambda server: server.tool(ui="cart")(write_text), "must begin with ui://"),
        (lambda server: server.tool(ui=PAGE, meta={"ui": {}})(write_text), "keep ui="),
        (lambda server: ToolUi(PAGE, visibility=["user"]), "visibility"),
        (lambda server: ToolUi(PAGE, visibility=[]), "visibility"),
        (lambda server: ToolUi(PAGE, visibility="app"), "visibility"),
        (lambda server: Csp(connect="https://a.example"), "is a list"),
        (lambda server: Csp(frame=["https://a.example"] * 101), "limit 100"),
    ],
)
def test_mistakes_are_refused_where_they_are_written(register: Any, problem: str) -> None:
    with pytest.raises(RegistrationError, match=problem):
        register(shop())


HOSTILE_ORIGINS = [
    "*",
    "https://*",
    "'unsafe-eval'",
    "https://a.example; script-src *",
    "https://a.example https://b.example",
    "https://a.example/path",
    "https://a.example\r\nX: y",
    "javascript:alert(1)",
    "data:",
    "https://a.example\n",
    "",
    5,
]


@pytest.mark.parametrize("origin", HOSTILE_ORIGINS, ids=repr)
def test_what_is_no_origin_is_refused(origin: Any) -> None:
    with pytest.raises(RegistrationError, match="not an origin"):
        Csp(resource=[origin])


# The client.


async def page_of(contents: dict[str, Any], ui: Any) -> AppPage | None:
    """The page of a tool whose server sends these contents."""

    async def read(uri: str) -> list[Contents]:
        return [msgspec.convert({"uri": uri, **contents}, Contents)] if contents else []

    return await read_app(read, ToolDefinition(name="show", input_schema={}, meta={"ui": ui}))


async def test_a_client_reads_the_page_of_a_tool() -> None:
    server = shop(csp=Csp(connect=["wss://live.example.com"]), permissions=["camera", "clipboard_write"])
    async with Client(server, apps=True) as client:
        tools = {tool.name: tool for tool in await client.tools()}
        assert await client.app(tools["plain"]) is None
        page = await client.app(tools["show_cart"])
        other = await client.app(tools["remove_item"])
    assert page is not None and other is not None
    assert (page.html, page.csp.connect, page.permissions) == (
        HTML,
        ("wss://live.example.com",),
        ("camera", "clipboard_write"),
    )
    assert (page.for_model, page.for_app, other.for_model, other.for_app) == (True, True, False, True)
    assert "connect-src wss://live.example.com;" in page.content_security_policy


async def test_a_policy_has_nothing_of_a_server_but_origins() -> None:
    asked = {"csp": {"connectDomains": HOSTILE_ORIGINS, "frameDomains": "https://x.example"}}
    meta = {"ui": {**asked, "domain": "a b", "prefersBorder": "yes", "permissions": ["camera"]}}
    page = await page_of({"mimeType": MIME_TYPE, "text": HTML, "_meta": meta}, {"resourceUri": PAGE})
    assert page is not None
    assert page.content_security_policy == AppPage(PAGE, HTML).content_security_policy
    assert (page.domain, page.border, page.permissions) == (None, None, ())


@pytest.mark.parametrize(
    ("contents", "ui", "problem"),
    [
        ({"mimeType": "text/html", "text": HTML}, {"resourceUri": PAGE}, "one document of type"),
        ({}, {"resourceUri": PAGE}, "one document of type"),
        ({"mimeType": MIME_TYPE, "blob": "/w=="}, {"resourceUri": PAGE}, "not UTF-8"),
        ({"mimeType": MIME_TYPE, "text": HTML}, {"resourceUri": "file:///etc/passwd"}, "begins with ui://"),
        ({"mimeType": MIME_TYPE, "text": HTML}, {"resourceUri": 5}, "begins with ui://"),
    ],
)
async def test_other_documents_are_refused(contents: dict[str, Any], ui: Any, problem: str) -> None:
    with pytest.raises(InvalidAnswer, match=problem):
        await page_of(contents, ui)
