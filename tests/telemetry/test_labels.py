"""Labels are put together once for each thing that is there, and no more of them are kept than a bound."""

from typing import Any

import pytest

from assay import Scope, Server
from assay.protocol.session import STATELESS
from assay.revisions.registry import HANDSHAKE
from assay.telemetry import labels
from assay.telemetry.labels import Labelling
from assay.telemetry.subject import Params

PEER = STATELESS[HANDSHAKE[-1]]


class Asked:
    """As much of a call as labels are made of."""

    scope = Scope(transport="stdio")
    peer = PEER


def server_with(*names: str) -> Server:
    server = Server("labelled")
    for name in names:
        server.tool(name=name)(lambda: None)
    return server


def test_labels_are_made_once_for_each_tool() -> None:
    labelling = Labelling(server_with("a", "b"), "tools/call", profile=True)
    asked: Any = Asked()

    first, other = labelling.of(asked, Params(name="a")), labelling.of(asked, Params(name="b"))

    assert labelling.of(asked, Params(name="a")) is first
    assert (first.name, other.name) == ("tools/call a", "tools/call b")


def test_what_is_not_there_is_not_kept() -> None:
    labelling = Labelling(server_with("a"), "tools/call", profile=True)
    asked: Any = Asked()

    assert labelling.of(asked, Params(name="x")) is not labelling.of(asked, Params(name="x"))


def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "KEPT", 1)
    labelling = Labelling(server_with("a", "b"), "tools/call", profile=True)
    asked: Any = Asked()
    first = labelling.of(asked, Params(name="a"))
    labelling.of(asked, Params(name="b"))

    assert labelling.of(asked, Params(name="a")) is not first


@pytest.mark.parametrize(("length", "kept"), [(5, True), (5000, False)])
def test_a_long_uri_is_not_kept_although_a_template_would_take_it(length: int, kept: bool) -> None:
    server = Server("labelled")
    server.resource("file:///{path}")(lambda path: path)
    labelling = Labelling(server, "resources/read", profile=True)
    asked: Any = Asked()
    uri = "file:///" + length * "x"

    assert (labelling.of(asked, Params(uri=uri)) is labelling.of(asked, Params(uri=uri))) is kept


@pytest.mark.parametrize("name", [None, 5, ["a"], {}])
def test_a_name_that_is_none_names_nothing(name: Any) -> None:
    labelling = Labelling(server_with("a"), "tools/call", profile=True)
    asked: Any = Asked()

    assert labelling.of(asked, Params(name=name)).name == "tools/call"
