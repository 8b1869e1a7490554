"""Checks of resources on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.driver.choice import NOWHERE
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import NOT_RECEIVED, Trace
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import described, probed, request, result, stdio_trace

OLD, NEW = HANDSHAKE[-1], PER_REQUEST[-1]
TEXT = {"uri": "a:1", "text": "x"}


def error(number: Any, code: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}


def read(uri: Any, answer: dict[str, Any], *before: tuple[str, Any], revision: Any = OLD) -> Trace:
    return stdio_trace(
        *before, (">", request(9, "resources/read", uri=uri)), ("<", {**answer, "id": 9}), revision=revision
    )


def listed(*uris: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return (">", request(1, "resources/list")), ("<", result(1, resources=[{"uri": uri} for uri in uris]))


@pytest.mark.parametrize(
    ("capabilities", "answer", "expected"),
    [
        ({"resources": {}}, result(2, resources=[]), [("RS-01", True), ("RS-05", True)]),
        ({"resources": {}}, error(2, -32601), [("RS-01", True), ("RS-05", False)]),
        ({}, result(2, resources=[{"uri": "a:1"}]), [("RS-01", False)]),
        ({}, result(2, resources=[]), [("RS-01", True)]),
        ({}, error(2, -32601), [("RS-01", True)]),
    ],
)
def test_declared(capabilities: Any, answer: Any, expected: Any) -> None:
    trace = stdio_trace(
        (">", request(1, "server/discover")),
        ("<", result(1, capabilities=capabilities)),
        (">", described(2, "resources/list", NEW)),
        ("<", answer),
        revision=NEW,
    )
    assert seen("resources.declared", trace) == expected


@pytest.mark.parametrize(
    ("contents", "holds"),
    [
        ([TEXT], True),
        ([], True),
        ([{"uri": "a:1", "blob": "eA=="}], True),
        ([{"uri": "a:1"}], False),
        ([{"text": "x"}], False),
        ([{"uri": "a:1", "text": {"json": 1}}], False),
        ([{"uri": "a:1", "text": "x", "blob": "eA=="}], False),
        ([TEXT, "x"], False),
        (TEXT, False),
        (None, False),
    ],
)
def test_contents(contents: Any, holds: bool) -> None:
    assert seen("resources.contents", read("a:1", result(9, contents=contents))) == [("RS-19", holds)]


def test_contents_of_a_question_are_not_judged() -> None:
    assert not seen("resources.contents", read("a:1", result(9, resultType="input_required"), revision=NEW))


@pytest.mark.parametrize(
    ("code", "holds"), [(-32603, True), (-32002, True), (403, True), (0, False), (-32601, False)]
)
def test_a_listed_resource_that_cannot_be_read_is_an_internal_error(code: int, holds: bool) -> None:
    trace = read("a:1", error(9, code), *listed("a:1"))
    assert seen("resources.contents", trace) == [("RS-11", holds)]
    assert not seen("resources.contents", read("a:2", error(9, code), *listed("a:1")))


@pytest.mark.parametrize(
    ("blob", "holds"),
    [
        ("", True),
        ("eA==", True),
        ("eA", False),
        ("e-_=", False),
        ("eA==\n", True),
        ("data:;base64,eA==", False),
    ],
)
def test_blobs(blob: str, holds: bool) -> None:
    trace = read("a:1", result(9, contents=[{"uri": "a:1", "blob": blob}]))
    assert seen("resources.blobs", trace) == [("RS-14", holds)]


@pytest.mark.parametrize(
    ("uri", "holds"),
    [
        ("notes://a/b?c=%20#d", True),
        ("urn:isbn:1", True),
        ("file:///a b", True),
        ("x-y+z.1:rest", True),
        ("my_scheme://a", False),
        ("notes.txt", False),
        ("1a:b", False),
        ("notes://a b", False),
        ("notes://a%zz", False),
        ("notes://ä", False),
    ],
)
def test_schemes_of_the_servers_own_follow_the_grammar(uri: str, holds: bool) -> None:
    assert seen("resources.uri-syntax", stdio_trace(*listed(uri))) == [("RS-18", holds)]


@pytest.mark.parametrize(
    ("revision", "answer", "expected"),
    [
        (OLD, error(9, -32002), [("RS-07", True)]),
        (OLD, error(9, -32602), [("RS-07", False)]),
        (OLD, result(9, contents=[]), [("RS-07", False)]),
        (NEW, error(9, -32602), [("RS-08", True), ("RS-09", True)]),
        (NEW, error(9, -32002), [("RS-08", False), ("RS-09", True)]),
        (NEW, result(9, contents=[]), [("RS-08", False), ("RS-09", False)]),
        (NEW, result(9, contents=[TEXT]), [("RS-08", False), ("RS-09", True)]),
    ],
)
def test_unknown(revision: Any, answer: Any, expected: Any) -> None:
    assert seen("resources.unknown", read(NOWHERE, answer, revision=revision)) == expected


def test_nothing_is_unknown_to_a_template_that_takes_any_uri() -> None:
    templates = [{"uriTemplate": "notes://{name}"}, {"uriTemplate": "{+uri}"}]
    asked = (">", request(1, "resources/templates/list"))
    trace = read(NOWHERE, result(9, contents=[TEXT]), asked, ("<", result(1, resourceTemplates=templates)))
    assert not seen("resources.unknown", trace)


@pytest.mark.parametrize("uri", ["", "no uri", 42, None, ["a:1"]])
def test_what_is_no_uri_is_refused(uri: Any) -> None:
    assert seen("resources.validated-uris", read(uri, error(9, -32603))) == [("RS-12", True)]
    assert seen("resources.validated-uris", read(uri, result(9, contents=[]))) == [("RS-12", False)]
    assert not seen("resources.validated-uris", read("a:1", result(9, contents=[])))


HOSTS = [{"uri": "x", "text": "127.0.0.1 localhost"}]
CLIMB = "file:///a/%2e%2e/..%2fetc/hosts"


@pytest.mark.parametrize(
    ("direct", "climbing", "expected"),
    [
        (error(1, -32602), error(9, -32602), [("RS-16", True)]),
        (error(1, -32602), result(9, contents=HOSTS), [("RS-16", False)]),
        (error(1, -32602), result(9, contents=[TEXT]), [("RS-16", True)]),
        (result(1, contents=HOSTS), result(9, contents=HOSTS), []),
    ],
)
def test_traversal(direct: Any, climbing: Any, expected: Any) -> None:
    asked = (">", request(1, "resources/read", uri="file:///etc/hosts"))
    trace = read(CLIMB, climbing, asked, ("<", direct), revision=NEW)
    assert seen("resources.traversal", trace) == expected


def by_turns(*lists: tuple[str, tuple[str, ...]]) -> Trace:
    """Lists of resources as they were read on these connections, one after the other."""
    frames: list[Frame] = []
    for number, (connection, uris) in enumerate(lists):
        (_, asked), (_, answer) = listed(*uris)
        for who, message in ((Sender.DRIVER, asked), (Sender.SUBJECT, answer)):
            line = stdio_trace((">", {**message, "id": number})).frames[0].raw
            frames.append(Frame(len(frames), 0.0, who, f"{connection}/lines", Kind.LINE, line))
    return Trace(stdio_trace(revision=NEW).header, frames)


def test_connections_see_the_same_resources() -> None:
    assert seen("resources.same-for-all", by_turns(("1", ("a:1",)), ("2", ("a:1",)))) == [("RS-06", True)]


def test_connections_that_steadily_differ_are_found() -> None:
    trace = by_turns(*[("1", ("a:1",)), ("2", ("a:1", "a:2"))] * 3)
    assert seen("resources.same-for-all", trace) == [("RS-06", False)]


def test_a_list_that_changes_over_time_is_not_judged() -> None:
    trace = by_turns(("1", ("a:1",)), ("2", ("a:2",)), ("1", ("a:2",)), ("2", ("a:1",)))
    assert not seen("resources.same-for-all", trace)


def test_subscriptions_that_are_refused() -> None:
    asked = (">", request(1, "resources/subscribe", uri="a:1"))
    assert seen("resources.subscriptions", stdio_trace(asked, ("<", result(1)))) == [("RS-03", True)]
    assert seen("resources.subscriptions", stdio_trace(asked, ("<", error(1, -32601)))) == [("RS-03", False)]


def test_updates_after_unsubscribing() -> None:
    ended = (">", request(1, "resources/unsubscribe", uri="a:1")), ("<", result(1))
    update = ("<", {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": "a:1"}})
    silent, loud = (probed(stdio_trace(*ended, *more), "unsubscribed") for more in ((), (update,)))
    assert seen("resources.subscriptions", silent) == [("RS-03", True), ("RS-03", True)]
    assert seen("resources.subscriptions", loud) == [("RS-03", True), ("RS-03", False)]


@pytest.mark.parametrize(("revision", "row"), [(OLD, "RS-03"), (NEW, "RS-04")])
def test_announced(revision: Any, row: str) -> None:
    update = ("<", {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": "a:1"}})
    assert seen("resources.announced", stdio_trace(update, revision=revision)) == [(row, True)]
    header = stdio_trace(revision=revision).header
    info = {"label": NOT_RECEIVED, "method": UPDATED, "params": {"uri": "a:1"}, "waited": 10}
    waited = Trace(header, [Frame(0, 0.0, Sender.DRIVER, "1/marks", Kind.MARK, info=info)])
    assert seen("resources.announced", waited) == [(row, False)]
