"""The app of the reference server in a real Chromium, inside a host page that speaks the bridge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import AppPage, Client
from assay.bundled.reference import make_server
from tests.system.chromium import Browser, Page

HOST = Path(__file__).parent / "app_host.html"
TOOL = "roll_dice"


def with_client(use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(make_server(), apps=True) as client:
            return await use(client)

    return asyncio.run(run())


def page_of_the_tool() -> AppPage:
    async def read(client: Client) -> AppPage:
        (tool,) = [tool for tool in await client.tools() if tool.name == TOOL]
        page = await client.app(tool)
        assert page is not None
        return page

    page: AppPage = with_client(read)
    return page


def roll(**arguments: Any) -> dict[str, Any]:
    async def call(client: Client) -> Any:
        return await client.request("tools/call", {"name": TOOL, "arguments": arguments})

    result: dict[str, Any] = with_client(call)
    return result


class View:
    """The page of the app in its frame, and the host around it."""

    def __init__(self, host: Page) -> None:
        self.host = host

    def rolls(self) -> list[int]:
        dice = "[...document.getElementById('dice').children]"
        return [int(text) for text in self.host.frame_value(f"{dice}.map((die) => die.textContent)")]

    def until(self, condition: str) -> None:
        self.host.frame_until(condition)

    def notify(self, method: str, params: Any) -> None:
        self.host.value(f"notify({json.dumps(method)}, {json.dumps(params)})")

    def methods(self) -> list[str]:
        methods: list[str] = self.host.value("received.map((message) => message.method ?? 'response')")
        return methods


@pytest.fixture
def view(browser: Browser) -> Iterator[View]:
    with browser.page(HOST) as host:
        page = page_of_the_tool()
        host.value(f"load({json.dumps(page.html)}, {json.dumps(page.content_security_policy)})")
        host.until("isReady")
        yield View(host)
        assert host.value("problems") == []
        assert host.complaints == []


def test_the_page_shows_the_result_of_its_tool_and_reports_its_size(view: View) -> None:
    assert view.methods()[:2] == ["ui/initialize", "ui/notifications/initialized"]
    result = roll(dice=3)
    view.notify("ui/notifications/tool-input", {"arguments": {"dice": 3}})
    view.notify("ui/notifications/tool-result", result)
    view.until("document.getElementById('dice').children.length === 3")
    assert view.rolls() == result["structuredContent"]["rolls"]
    total = view.host.frame_value("document.getElementById('total').textContent")
    assert total == str(result["structuredContent"]["total"])
    view.host.until("received.some(({method}) => method === 'ui/notifications/size-changed')")


def test_its_button_calls_the_tool_through_the_host(view: View) -> None:
    view.notify("ui/notifications/tool-input", {"arguments": {"dice": 4}})
    view.until("!document.getElementById('roll').disabled")
    view.host.frame_value("document.getElementById('roll').click()")
    view.host.until("calls.length === 1")
    call = view.host.value("calls[0]")
    assert call["params"] == {"name": TOOL, "arguments": {"dice": 4}}
    result = roll(**call["params"]["arguments"])
    view.host.value(f"answer({call['id']}, {json.dumps(result)})")
    view.until("document.getElementById('dice').children.length === 4")
    assert view.rolls() == result["structuredContent"]["rolls"]


def test_a_hostile_result_is_shown_as_text(view: View) -> None:
    markup = "<img src=x onerror=\"document.title='caught'\">"
    view.notify(
        "ui/notifications/tool-result",
        {"structuredContent": {"rolls": [markup], "total": markup}, "content": []},
    )
    view.until("document.getElementById('dice').children.length === 1")
    assert view.host.frame_value("document.getElementById('dice').children[0].textContent") == markup
    assert view.host.frame_value("document.images.length") == 0
    view.notify("ui/notifications/tool-result", {"isError": True, "content": []})
    view.until("document.getElementById('problem').textContent !== ''")


def test_the_page_answers_the_host_before_it_is_removed(view: View) -> None:
    view.host.value("post({id: 'end', method: 'ui/resource-teardown', params: {reason: 'done'}})")
    view.host.until("received.some(({id, result}) => id === 'end' && result)")


def test_messages_of_other_windows_do_not_reach_the_page(view: View) -> None:
    view.host.frame_value(
        "window.postMessage({jsonrpc: '2.0', method: 'ui/notifications/tool-result',"
        " params: {structuredContent: {rolls: [1], total: 1}}}, '*')"
    )
    view.host.value("post({id: 'after', method: 'ping'})")
    view.host.until("received.some(({id}) => id === 'after')")
    assert view.rolls() == []
