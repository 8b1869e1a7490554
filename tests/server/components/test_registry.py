"""Pages: opaque cursors that stay valid while components change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import RegistrationError, RpcError, Server
from assay.server.components.registry import PagedRegistry
from tests.server.scripted import ask

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


class Thing:
    scopes: tuple[str, ...] = ()

    def __init__(self, key: str) -> None:
        self.key = key

    @property
    def definition(self) -> str:
        return self.key


def registry_of(keys: list[str], page_size: int) -> PagedRegistry[Thing]:
    registry: PagedRegistry[Thing] = PagedRegistry("things", page_size, lambda: None)
    for key in keys:
        registry.add(Thing(key))
    return registry


def full_server(count: int, page_size: int) -> Server:
    server = Server("test", page_size=page_size)
    for number in range(count):
        server.tools.add(lambda: None, name=f"t{number}")
        server.resources.add(f"r://{number}", lambda: "")
        server.resources.add(f"r{number}://{{name}}", lambda name: "")
        server.prompts.add(lambda: "", name=f"p{number}")
    return server


async def pages(server: Server, method: str) -> list[int]:
    """Follow the cursors; returns the number of components on each page."""
    sizes, params = [], {}
    while True:
        result = (await ask(server, method, **params))["result"]
        sizes.append(len(result[LISTS[method]]))
        if "nextCursor" not in result:
            return sizes
        params = {"cursor": result["nextCursor"]}


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3]), (7, [3, 3, 1])])
async def test_cursors_lead_through_the_whole_list(method: str, count: int, sizes: list[int]) -> None:
    assert await pages(full_server(count, 3), method) == sizes


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["", "nonsense", "AAAA", "dG9vbHM6MQ"])
async def test_unknown_cursor_is_invalid_params(method: str, cursor: str) -> None:
    assert (await ask(full_server(4, 3), method, cursor=cursor))["error"]["code"] == -32602


@pytest.mark.parametrize("method", LISTS)
async def test_cursor_of_another_list_is_invalid_params(method: str) -> None:
    server = full_server(4, 3)
    cursors = {other: (await ask(server, other))["result"]["nextCursor"] for other in LISTS}
    answers = {
        other: "result" in await ask(server, method, cursor=cursor) for other, cursor in cursors.items()
    }
    assert answers == {other: other == method for other in LISTS}


@pytest.mark.parametrize("cursor", [1, [], {}])
async def test_cursor_of_another_type_is_invalid_params(cursor: Any) -> None:
    assert (await ask(full_server(1, 3), "tools/list", cursor=cursor))["error"]["code"] == -32602


async def test_null_cursor_is_ignored() -> None:
    """The schema requires a string, but clients send null (server/utilities/pagination)."""
    assert len((await ask(full_server(1, 3), "tools/list", cursor=None))["result"]["tools"]) == 1


def test_page_neither_repeats_nor_skips_after_removals() -> None:
    registry = registry_of(["a", "b", "c", "d"], 2)
    first, cursor = registry.page(None)
    registry.remove("a")
    registry.remove("b")
    assert (first, registry.page(cursor)) == (["a", "b"], (["c", "d"], None))


def test_component_added_again_comes_last() -> None:
    registry = registry_of(["a", "b", "c"], 2)
    _, cursor = registry.page(None)
    registry.remove("a")
    registry.add(Thing("a"))
    assert registry.page(cursor) == (["c", "a"], None)


def test_cursor_stays_valid_when_all_components_are_removed() -> None:
    registry = registry_of(["a", "b"], 1)
    _, cursor = registry.page(None)
    registry.remove("a")
    registry.remove("b")
    assert registry.page(cursor) == ([], None)


@settings(deadline=None)
@given(
    count=st.integers(0, 12),
    page_size=st.integers(1, 4),
    changes=st.lists(st.lists(st.tuples(st.sampled_from("+-"), st.integers(0, 15)), max_size=4), max_size=6),
)
def test_permanent_components_are_listed_exactly_once(count: int, page_size: int, changes: list[Any]) -> None:
    registry = registry_of([str(number) for number in range(count)], page_size)
    stayed = {str(number) for number in range(count)}
    listed, cursor = registry.page(None)
    while cursor is not None:
        for sign, number in changes.pop() if changes else []:
            key = str(number)
            if sign == "-" and registry.get(key) is not None:
                registry.remove(key)
                stayed.discard(key)
            elif sign == "+" and registry.get(key) is None:
                registry.add(Thing(key))
        page, cursor = registry.page(cursor)
        listed += page
    assert [key for key in listed if key in stayed] == sorted(stayed, key=int)


def test_error_quotes_a_limited_part_of_the_cursor() -> None:
    with pytest.raises(RpcError) as caught:
        registry_of(["a"], 1).page("x" * 10_000)
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("page_size", [0, -1])
def test_page_size_must_be_positive(page_size: int) -> None:
    with pytest.raises(RegistrationError, match="page_size"):
        Server("test", page_size=page_size)
