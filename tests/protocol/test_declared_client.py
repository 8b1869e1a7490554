"""What a session keeps of a client's description: all of it up to a limit, else what is used."""

from __future__ import annotations

from typing import Any

import pytest

from assay.model.content import Icon
from assay.model.definition import ClientCapabilities, Implementation
from assay.protocol.declared_client import DeclaredClient

LIMIT = 1024
LONG = "x" * (4 * 1024 * 1024)
USED: dict[str, Any] = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}, "context": {}},
    "elicitation": {"form": {}, "url": {}},
}


def declared(client: dict[str, Any] | None = None, **capabilities: Any) -> DeclaredClient:
    fields = {"name": "probe", "version": "1.0", **(client or {})}
    return DeclaredClient.of(ClientCapabilities(**capabilities), Implementation(**fields))


def test_usual_client_is_kept_whole() -> None:
    usual = declared({"title": "Probe"}, **USED, extensions={"example/ui": {"kinds": ["a", "b"]}})
    assert usual.bounded(LIMIT) is usual


HUGE: dict[str, DeclaredClient] = {
    "name": declared({"name": LONG}),
    "version": declared({"version": LONG}),
    "name of control characters": declared({"name": "\0" * 5000, "version": "\0" * 5000}),
    "title": declared({"title": LONG}),
    "description": declared({"description": LONG}),
    "website": declared({"website_url": LONG}),
    "icon": declared({"icons": [Icon(f"data:,{LONG}")]}),
    "member of a capability": declared(sampling={"tools": {"huge": LONG}}),
    "unknown member": declared(roots={LONG: True}),
    "extension": declared(extensions={"example/huge": {"text": LONG}}),
    "experimental": declared(experimental={f"{number}": {} for number in range(100_000)}),
    "all": declared(
        {"name": LONG, "version": LONG, "title": LONG, "description": LONG, "icons": [Icon(LONG)]},
        roots={"listChanged": LONG},
        sampling={"tools": LONG, "context": LONG},
        elicitation={"form": LONG, "url": LONG},
        extensions={LONG: {}},
        experimental={LONG: {}},
    ),
}


@pytest.mark.parametrize("client", HUGE.values(), ids=HUGE.keys())
def test_whatever_a_client_sends_little_of_it_is_kept(client: DeclaredClient) -> None:
    assert client.bounded(LIMIT).size <= LIMIT


@pytest.mark.parametrize(
    ("client", "capability", "members"),
    [
        (declared({"icons": [Icon(LONG)]}, **USED), "sampling", {"tools": {}, "context": {}}),
        (declared(sampling={"tools": {LONG: 1}, LONG: {}}), "sampling", {"tools": {}}),
        (declared(sampling={LONG: {}}), "sampling", {}),
        (declared(elicitation={"form": {}, "url": {"x": LONG}}), "elicitation", {"form": {}, "url": {}}),
        (declared(roots={"listChanged": False, "x": LONG}), "roots", {"listChanged": False}),
        (declared({"name": LONG}), "roots", None),
        (declared({"title": LONG}, extensions={"a/b": {}}), "extensions", {"a/b": {}}),
    ],
)
def test_what_decides_how_a_client_is_asked_is_kept(
    client: DeclaredClient, capability: str, members: dict[str, Any] | None
) -> None:
    assert getattr(client.bounded(LIMIT).capabilities, capability) == members


def test_long_names_are_cut_and_the_rest_is_kept_as_far_as_it_fits() -> None:
    bounded = declared({"name": "n" * 2000, "title": "Probe", "icons": [Icon(LONG)]}).bounded(LIMIT)
    assert bounded.client == Implementation("n" * 64, "1.0", title="Probe")
