"""Tags of components: published in `_meta`, and readable by the author."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay import RegistrationError, Server
from tests.server.scripted import ask


def tagged(**options: Any) -> Server:
    server = Server("test")
    server.tool(name="add", **options)(lambda: "a")
    server.resource("notes://all", **options)(lambda: "a")
    server.resource("notes://{day}", **options)(lambda day: day)
    server.prompt(name="review", **options)(lambda: "a")
    return server


LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


@pytest.mark.parametrize(("method", "key"), LISTS.items())
@pytest.mark.parametrize(
    ("options", "meta"),
    [
        ({"tags": {"b", "a"}}, {"fastmcp": {"tags": ["a", "b"]}}),
        ({"tags": ["a", "a"], "meta": {"k": 1}}, {"k": 1, "fastmcp": {"tags": ["a"]}}),
        (
            {"tags": ("a",), "meta": {"fastmcp": {"version": "1"}}},
            {"fastmcp": {"version": "1", "tags": ["a"]}},
        ),
        ({"tags": ()}, None),
        ({"tags": set(), "meta": {"k": 1}}, {"k": 1}),
        ({}, None),
    ],
)
async def test_tags_are_published_where_clients_of_fastmcp_find_them(
    method: str, key: str, options: dict[str, Any], meta: Any
) -> None:
    (component,) = (await ask(tagged(**options), method))["result"][key]
    assert component.get("_meta") == meta


def test_author_selects_components_by_tags() -> None:
    server = tagged(tags={"beta"})
    server.tool(name="stable")(lambda: "a")
    for registry in (server.tools, server.resources, server.prompts):
        for component in registry:
            if "beta" in component.tags:
                registry.remove(component.key)
    assert [tool.key for tool in server.tools] == ["stable"]
    assert (len(server.resources), len(server.prompts)) == (0, 0)


def test_options_of_the_author_are_not_changed() -> None:
    meta: dict[str, Any] = {"fastmcp": {}}
    tagged(tags={"a"}, meta=meta)
    assert meta == {"fastmcp": {}}


@pytest.mark.parametrize("tags", ["beta", [1], [""], {None}])
@pytest.mark.parametrize(
    "register",
    [
        lambda server, tags: server.tool(name="add", tags=tags),
        lambda server, tags: server.resource("a:b", tags=tags),
        lambda server, tags: server.prompt(name="ask", tags=tags),
    ],
)
def test_tags_of_another_type_name_the_fix(register: Callable[[Server, Any], Any], tags: Any) -> None:
    with pytest.raises(RegistrationError, match=r'tags are a set of words, .*: write tags=\{"beta"\}'):
        register(Server("test"), tags)(lambda: "a")


def test_occupied_place_of_tags_is_named() -> None:
    with pytest.raises(RegistrationError, match="tool add: meta\\['fastmcp'\\] must be an object"):
        Server("test").tool(name="add", tags={"a"}, meta={"fastmcp": 1})(lambda: "a")
