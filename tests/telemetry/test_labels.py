"""Labels are built once per registered component, and the cache is bounded."""

from typing import Any

import pytest

from assay import Scope, Server
from assay.protocol.session import STATELESS
from assay.revisions.registry import HANDSHAKE
from assay.telemetry import labels
from assay.telemetry.labels import MethodLabels
from assay.telemetry.subject import Params

PEER = STATELESS[HANDSHAKE[-1]]


class FakeCall:
    """The parts of a call that labels depend on."""

    scope = Scope(transport="stdio")
    peer = PEER


def server_with(*names: str) -> Server:
    server = Server("labelled")
    for name in names:
        server.tool(name=name)(lambda: None)
    return server


def test_labels_are_made_once_for_each_tool() -> None:
    method_labels = MethodLabels(server_with("a", "b"), "tools/call", profile=True)
    call: Any = FakeCall()

    first, other = method_labels.of(call, Params(name="a")), method_labels.of(call, Params(name="b"))

    assert method_labels.of(call, Params(name="a")) is first
    assert (first.name, other.name) == ("tools/call a", "tools/call b")


def test_unknown_names_are_not_cached() -> None:
    method_labels = MethodLabels(server_with("a"), "tools/call", profile=True)
    call: Any = FakeCall()

    assert method_labels.of(call, Params(name="x")) is not method_labels.of(call, Params(name="x"))


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MAX_CACHED", 1)
    method_labels = MethodLabels(server_with("a", "b"), "tools/call", profile=True)
    call: Any = FakeCall()
    first = method_labels.of(call, Params(name="a"))
    method_labels.of(call, Params(name="b"))

    assert method_labels.of(call, Params(name="a")) is not first


@pytest.mark.parametrize(("length", "cached"), [(5, True), (5000, False)])
def test_a_long_uri_is_not_cached_even_if_a_template_matches(length: int, cached: bool) -> None:
    server = Server("labelled")
    server.resource("file:///{path}")(lambda path: path)
    method_labels = MethodLabels(server, "resources/read", profile=True)
    call: Any = FakeCall()
    uri = "file:///" + length * "x"

    assert (method_labels.of(call, Params(uri=uri)) is method_labels.of(call, Params(uri=uri))) is cached


@pytest.mark.parametrize("name", [None, 5, ["a"], {}])
def test_a_name_that_is_none_names_nothing(name: Any) -> None:
    method_labels = MethodLabels(server_with("a"), "tools/call", profile=True)
    call: Any = FakeCall()

    assert method_labels.of(call, Params(name=name)).name == "tools/call"
