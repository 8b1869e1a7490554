"""Checks of headers that repeat the body, on conversations written by hand."""

from typing import Any

import pytest

from assay.lab.suite.mirrored_header import annotations_of
from assay.model.error import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION
from assay.revisions.registry import ASSUMED, HANDSHAKE, PER_REQUEST
from tests.lab.suite.conversation import Said, conversation, error
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result

NEWEST = PER_REQUEST[-1]
VERSION = NEWEST.date
META = "io.modelcontextprotocol/protocolVersion"
MISMATCH = (400, error(1, HEADER_MISMATCH))
SERVED = (200, result(1))
INVALID = (400, error(1, INVALID_PARAMS))
BARE = (400, None)
Answer = tuple[int, Any]


def described(answer: Answer, headers: dict[str, str | None], version: str = VERSION, **params: Any) -> Said:
    """A tool call of the newest revision, with headers changed or left out."""
    body = request(1, "tools/call", name="x", _meta={META: version}, **params)
    usual = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "x"}
    sent = {name: value for name, value in {**usual, **headers}.items() if value is not None}
    return Said(body, *answer, headers=sent)


@pytest.mark.parametrize(
    ("headers", "row"),
    [
        ({"Mcp-Method": None}, "HTTP-57"),
        ({"Mcp-Name": None}, "HTTP-57"),
        ({"Mcp-Method": "tools/list"}, "HTTP-58"),
        ({"Mcp-Name": "y"}, "HTTP-58"),
        ({"Mcp-Name": "=?base64?!!?="}, "HTTP-58"),
        ({"Mcp-Method": "TOOLS/CALL"}, "HTTP-61"),
        ({"Mcp-Name": "caf\u00e9"}, "HTTP-59"),
        ({"Mcp-Name": "=?BASE64?eA==?="}, "XH-13"),
    ],
)
@pytest.mark.parametrize(
    ("answer", "holds"), [(MISMATCH, True), (SERVED, False), (INVALID, False), (BARE, False)]
)
def test_flawed_header_must_be_refused(
    headers: dict[str, str | None], row: str, answer: Answer, holds: bool
) -> None:
    trace = conversation(NEWEST, described(answer, headers))
    assert seen("http.mirrored-headers", trace) == [(row, holds)]


@pytest.mark.parametrize(
    ("given", "told", "answer", "rows"),
    [
        (VERSION, "1999-12-31", MISMATCH, [("HTTP-50", True)]),
        (VERSION, "1999-12-31", SERVED, [("HTTP-50", False)]),
        (VERSION, HANDSHAKE[-1].date, INVALID, [("HTTP-50", False)]),
        (HANDSHAKE[-1].date, VERSION, INVALID, []),
    ],
)
def test_version_is_compared_where_the_header_names_this_one(
    given: str, told: str, answer: Answer, rows: Any
) -> None:
    trace = conversation(NEWEST, described(answer, {"MCP-Protocol-Version": given}, version=told))
    assert seen("http.mirrored-headers", trace) == rows


@pytest.mark.parametrize(
    ("headers", "row"),
    [
        ({"Mcp-Name": "=?base64?eA==?="}, "HTTP-60"),
        ({"Mcp-Method": None, "mcp-method": "tools/call"}, "HTTP-61"),
    ],
)
@pytest.mark.parametrize(("answer", "holds"), [(SERVED, True), (INVALID, True), (MISMATCH, False)])
def test_unusual_header_must_be_taken(
    headers: dict[str, str | None], row: str, answer: Answer, holds: bool
) -> None:
    trace = conversation(NEWEST, described(answer, headers))
    assert seen("http.mirrored-headers", trace) == [(row, holds)]


@pytest.mark.parametrize(
    "said",
    [
        described(MISMATCH, {}),
        described(SERVED, {"Mcp-Method": None, "Mcp-Name": None}),
        described(SERVED, {"MCP-Protocol-Version": None}),
        Said({"jsonrpc": "2.0", "method": "notifications/x"}, 202),
        Said([request(1, "ping")], 400),
        Said(None, 405, method="GET"),
    ],
)
def test_what_nothing_follows_from_is_not_judged(said: Said) -> None:
    assert seen("http.mirrored-headers", conversation(NEWEST, said)) == []
    assert seen("http.mirrored-headers", conversation(HANDSHAKE[-1], said)) == []


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ((400, error(1, UNSUPPORTED_VERSION, supported=["a"])), [("HTTP-51", True)]),
        ((200, error(1, UNSUPPORTED_VERSION, supported=["a"])), [("HTTP-51", False)]),
        ((400, error(1, UNSUPPORTED_VERSION, supported=[])), [("HTTP-51", False)]),
        ((400, error(1, UNSUPPORTED_VERSION)), [("HTTP-51", False)]),
        (INVALID, [("HTTP-51", False)]),
    ],
)
def test_unsupported_version_is_refused_with_a_list(answer: Answer, rows: Any) -> None:
    trace = conversation(NEWEST, described(answer, {}, version="1999-12-31"))
    assert seen("http.unsupported-version", trace) == rows
    assert seen("http.unsupported-version", conversation(NEWEST, described(answer, {}))) == []


def opening(version: str | None) -> Said:
    answer = error(1, UNSUPPORTED_VERSION) if version is None else result(1, protocolVersion=version)
    return Said(request(1, "initialize"), 200, answer)


NO_VERSION: dict[str, str | None] = {"MCP-Protocol-Version": None}


@pytest.mark.parametrize(
    ("agreed", "said", "rows"),
    [
        (None, described(MISMATCH, NO_VERSION), [("HTTP-53", True)]),
        (None, described(SERVED, NO_VERSION), [("HTTP-53", False)]),
        (ASSUMED.date, described(SERVED, NO_VERSION), []),
        (ASSUMED.date, described(MISMATCH, NO_VERSION), [("HTTP-53", True)]),
        (HANDSHAKE[-1].date, described(SERVED, NO_VERSION), [("HTTP-53", False)]),
        (None, Said(None, 405, method="GET"), [("HTTP-66", True)]),
        (None, Said(None, 404, method="DELETE"), [("HTTP-66", False)]),
        (ASSUMED.date, Said(None, 404, method="GET"), []),
        (None, described(SERVED, {"Mcp-Session-Id": "a"}), [("HTTP-67", True)]),
        (None, described((404, None), {"Mcp-Session-Id": "a"}), [("HTTP-67", False)]),
        (ASSUMED.date, described((404, None), {"Mcp-Session-Id": "a"}), []),
        (None, described(SERVED, {"Last-Event-ID": "1"}), [("HTTP-68", True)]),
        (None, described(BARE, {"Last-Event-ID": "1"}), [("HTTP-68", False)]),
    ],
)
def test_older_traffic_is_judged_by_whom_the_server_serves(agreed: str | None, said: Said, rows: Any) -> None:
    assert seen("http.older-traffic", conversation(NEWEST, opening(agreed), said)) == rows
    assert seen("http.older-traffic", conversation(NEWEST, said)) == []


def tool(**properties: Any) -> dict[str, Any]:
    return {"name": "x", "inputSchema": {"type": "object", "properties": properties}}


def listed(one: dict[str, Any]) -> Said:
    return Said(request(9, "tools/list"), 200, result(9, tools=[one]))


def broken(one: dict[str, Any]) -> set[str]:
    return {
        row for row, holds in seen("http.param-annotations", conversation(NEWEST, listed(one))) if not holds
    }


def marked(name: Any = "Region", kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


@pytest.mark.parametrize(
    ("properties", "rows"),
    [
        ({"a": marked()}, set()),
        ({"a": {"type": "object", "properties": {"b": marked()}}}, set()),
        ({"a": marked(kind=["string", "null"])}, set()),
        ({"a": {"enum": ["x"], "x-mcp-header": "A"}}, set()),
        ({"x-mcp-header": {"type": "string"}}, set()),
        ({"a": {"type": "object", "default": {"x-mcp-header": ""}}}, set()),
        ({"a": marked("")}, {"XH-02"}),
        ({"a": marked(7)}, {"XH-02"}),
        ({"a": marked("a b")}, {"XH-03"}),
        ({"a": marked("a\n")}, {"XH-03", "XH-04"}),
        ({"a": marked("A"), "b": marked("a")}, {"XH-05"}),
        ({"a": marked(kind="number")}, {"XH-06"}),
        ({"a": marked(kind=["string", {}])}, {"XH-06"}),
        ({"a": {"type": "array", "items": marked()}}, {"XH-07"}),
        ({"a": {"anyOf": [marked()]}}, {"XH-07"}),
    ],
)
def test_marks_are_judged_by_name_type_and_place(properties: dict[str, Any], rows: set[str]) -> None:
    assert broken(tool(**properties)) == rows


def test_mark_at_the_root_or_in_definitions_cannot_be_reached() -> None:
    schema = {**marked(kind="object"), "$defs": {"a": marked("B")}}
    found = annotations_of({"inputSchema": schema})
    assert [one.via for one in found] == ["the root", "$defs"]


def called(answer: Answer, header: str | None, **arguments: Any) -> Said:
    return described(answer, {"Mcp-Param-Region": header}, arguments=arguments)


@pytest.mark.parametrize(
    ("header", "arguments", "row", "refused"),
    [
        (None, {"region": "a"}, "XH-16", True),
        ("caf\u00e9", {"region": "a"}, "XH-17", True),
        ("b", {"region": "a"}, "XH-18", True),
        ("=?base64?YQ==?=", {"region": "b"}, "XH-18", True),
        ("True", {"region": True}, "XH-18", True),
        (None, {}, "XH-15", False),
        (None, {"region": None}, "XH-15", False),
        ("42.0", {"region": 42}, "XH-19", False),
    ],
)
def test_headers_of_parameters_are_compared(
    header: str | None, arguments: dict[str, Any], row: str, refused: bool
) -> None:
    definition = listed(tool(region=marked(kind=["string", "integer", "boolean"])))
    for answer, is_refusal in ((MISMATCH, True), (SERVED, False)):
        trace = conversation(NEWEST, definition, called(answer, header, **arguments))
        assert seen("http.param-headers", trace) == [(row, is_refusal is refused)]


@pytest.mark.parametrize(
    ("header", "arguments"),
    [("a", {"region": "a"}), ("true", {"region": True}), ("42", {"region": 42}), ("a", {})],
)
def test_headers_that_agree_are_not_judged(header: str, arguments: dict[str, Any]) -> None:
    trace = conversation(NEWEST, listed(tool(region=marked())), called(SERVED, header, **arguments))
    assert seen("http.param-headers", trace) == []
