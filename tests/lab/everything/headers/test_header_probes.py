"""Checks of headers that are tried out, on conversations written by hand."""

from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.revisions.registry import PER_REQUEST
from tests.lab.everything.observing import broken, held, seen
from tests.lab.suite.conversation import Said, conversation, error
from tests.lab.traces import request, result

NEW = PER_REQUEST[-1]
META = {VERSION_KEY: NEW.date, CAPABILITIES_KEY: {}}
STANDARD, CUSTOM = "http-header-validation", "http-custom-header-server-validation"
SETUP, STATUS = "sep-2243-server-standard-setup", "sep-2243-server-reject-invalid-headers"
CODE, SPACES = "sep-2243-server-reject-error-code", "sep-2243-server-accepts-whitespace-header-value"
LETTERS = "sep-2243-header-name-case-insensitive"
Answer = tuple[int, Any]
SERVED: Answer = (200, result(1, content=[]))
MISMATCH: Answer = (400, error(1, -32020))
USUAL = {"MCP-Protocol-Version": NEW.date, "Mcp-Method": "tools/call", "Mcp-Name": "x"}


def called(answer: Answer, arguments: Any = None, **changed: str | None) -> Said:
    """A call with headers changed, or left out; `_` stands for `-`."""
    given = {name.replace("_", "-"): value for name, value in changed.items()}
    sent = {name: value for name, value in {**USUAL, **given}.items() if value is not None}
    body = request(1, "tools/call", name="x", arguments=arguments or {}, _meta=META)
    return Said(body, *answer, headers=sent)


@pytest.mark.parametrize("flaw", [{"Mcp_Name": "y"}, {"Mcp_Name": None}, {"Mcp_Method": "TOOLS/CALL"}])
@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        (MISMATCH, set()),
        ((200, error(1, -32020)), {STATUS}),
        ((400, error(1, -32602)), {CODE}),
        ((400, None), {CODE}),
        (SERVED, {STATUS, CODE}),
    ],
)
def test_flaws_are_refused(flaw: dict[str, str | None], answer: Answer, rows: set[str]) -> None:
    trace = conversation(NEW, called(SERVED), called(answer, **flaw))
    assert broken(STANDARD, trace) == rows
    assert held(STANDARD, trace) == {SETUP, STATUS, CODE} - rows


def test_who_refuses_everything_shows_no_refusal() -> None:
    trace = conversation(NEW, called(MISMATCH), called(MISMATCH, Mcp_Name=None))
    assert seen(STANDARD, trace) == [(SETUP, False)]


@pytest.mark.parametrize(
    ("unusual", "row"),
    [({"Mcp_Name": "  x  "}, SPACES), ({"Mcp_Method": None, "mcp_method": "tools/call"}, LETTERS)],
)
@pytest.mark.parametrize(("answer", "holds"), [(SERVED, True), (MISMATCH, False), ((200, None), False)])
def test_the_unusual_is_taken(unusual: dict[str, str | None], row: str, answer: Answer, holds: bool) -> None:
    assert seen(STANDARD, conversation(NEW, called(answer, **unusual))) == [(row, holds)]


SCHEMA = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
LISTED = Said(
    request(0, "tools/list", _meta=META), 200, result(0, tools=[{"name": "x", "inputSchema": SCHEMA}])
)
DECODED, LITERAL = "sep-2243-server-decode-base64", "sep-2243-server-validate-param-match"
BAD, DIFFERS = "sep-2243-server-reject-invalid-param-chars", "sep-2243-server-reject-param-mismatch"


def located(argument: str, header: str | None, answer: Answer) -> Said:
    return called(answer, {"region": argument}, Mcp_Param_Region=header)


@pytest.mark.parametrize(
    ("argument", "header", "row"),
    [
        ("Hello", "=?base64?SGVsbG8=?=", DECODED),
        ("SGVsbG8=", "SGVsbG8=", LITERAL),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8=", LITERAL),
    ],
)
@pytest.mark.parametrize(("answer", "holds"), [(SERVED, True), (MISMATCH, False)])
def test_right_headers_of_parameters(
    argument: str, header: str, row: str, answer: Answer, holds: bool
) -> None:
    assert seen(CUSTOM, conversation(NEW, LISTED, located(argument, header, answer))) == [(row, holds)]


@pytest.mark.parametrize("header", ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "other", None])
def test_wrong_headers_of_parameters(header: str | None) -> None:
    right = located("Hello", "Hello", SERVED)
    refused = conversation(NEW, LISTED, right, located("Hello", header, MISMATCH))
    assert held(CUSTOM, refused) == {LITERAL, BAD, DIFFERS}
    believed = conversation(NEW, LISTED, right, located("Hello", header, SERVED))
    assert broken(CUSTOM, believed) == {BAD, DIFFERS}
