"""Checks of prompts on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.content_block import is_base64, is_mime_type, is_uri
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace

REVIEW = {"name": "review", "arguments": [{"name": "code", "required": True}, {"name": "goal"}]}
TEXT = {"role": "user", "content": {"type": "text", "text": "x"}}


def got(params: dict[str, Any], answer: dict[str, Any]) -> Trace:
    kind = "error" if "code" in answer else "result"
    return stdio_trace(
        (">", request(1, "prompts/list")),
        ("<", result(1, prompts=[REVIEW])),
        (">", request(2, "prompts/get", **params)),
        ("<", {"jsonrpc": "2.0", "id": 2, kind: answer}),
    )


def review(**arguments: Any) -> dict[str, Any]:
    return {"name": "review", "arguments": arguments}


def told(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


def error(code: Any) -> dict[str, Any]:
    return {"code": code, "message": "no"}


@pytest.mark.parametrize(
    ("params", "answer", "expected"),
    [
        (review(code="a"), told(TEXT), []),
        (review(), error(-32602), [("PR-12", True), ("PR-10", True)]),
        (review(), error(-32603), [("PR-12", True), ("PR-10", False)]),
        (review(), told(TEXT), [("PR-12", False)]),
        ({"name": "review"}, told(TEXT), [("PR-12", False)]),
        (review(code=5), error(-32603), [("PR-12", True)]),
        (review(code="a", goal={}), told(TEXT), [("PR-12", False)]),
    ],
)
def test_arguments_are_validated(params: Any, answer: Any, expected: Any) -> None:
    assert seen("prompts.arguments", got(params, answer)) == expected


@pytest.mark.parametrize(
    ("code", "holds"), [(-32603, True), (-32021, True), (-32000, True), (0, False), (500, False)]
)
def test_failures_have_standard_codes(code: int, holds: bool) -> None:
    assert seen("prompts.internal-error", got(review(code="a"), error(code))) == [("PR-11", holds)]
    assert seen("prompts.internal-error", got(review(), error(code))) == []


@pytest.mark.parametrize(
    ("answer", "holds"), [(error(-32602), True), (error(-32601), False), (told(), False)]
)
def test_unknown_prompt(answer: Any, holds: bool) -> None:
    assert seen("prompts.unknown-name", got({"name": "no-such"}, answer)) == [("PR-09", holds)]


@pytest.mark.parametrize(
    ("message", "holds"),
    [
        (TEXT, True),
        ({**TEXT, "role": "assistant"}, True),
        ({**TEXT, "role": "tool"}, False),
        ({**TEXT, "content": [TEXT["content"]]}, False),
        ({**TEXT, "content": {}}, False),
        ("hello", False),
    ],
)
def test_messages(message: Any, holds: bool) -> None:
    assert seen("prompts.messages", got(review(code="a"), told(message))) == [("PR-08", holds)]


def resource(**changed: Any) -> dict[str, Any]:
    fields = {"uri": "file:///a", "mimeType": "text/plain", "text": "x", **changed}
    kept = {key: value for key, value in fields.items() if value is not None}
    return {"type": "resource", "resource": kept}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "image", "data": "aGk=", "mimeType": "image/png"}, [("PR-05", True)]),
        ({"type": "image", "data": "a-_=", "mimeType": "image/png"}, [("PR-05", False)]),
        ({"type": "audio", "data": "aGk=", "mimeType": "wav"}, [("PR-06", False)]),
        ({"type": "audio", "data": "aGk="}, [("PR-06", False)]),
        (resource(), [("PR-07", True)]),
        (resource(text=None, blob="aGk="), [("PR-07", True)]),
        (resource(text=None), [("PR-07", False)]),
        (resource(mimeType=None), [("PR-07", False)]),
        (resource(uri="a b"), [("PR-07", False)]),
        (resource(uri="given by the driver"), [("PR-07", True)]),
        ({"type": "resource", "resource": "file:///a"}, [("PR-07", False)]),
        ({"type": "video"}, []),
        ({"type": ["image"]}, []),
    ],
)
def test_content(block: Any, expected: Any) -> None:
    params = review(code="given by the driver")
    assert seen("prompts.content", got(params, told({"role": "user", "content": block}))) == expected


def test_notations() -> None:
    assert is_base64("") and is_base64("aGk=\r\naGk=") is False and is_base64("aGVs\nbG8=")
    assert not is_base64("aGk") and not is_base64(None) and not is_base64("ü")
    assert is_mime_type("text/plain; charset=utf-8") and is_mime_type("image/svg+xml")
    assert not is_mime_type("text/") and not is_mime_type("") and not is_mime_type(5)
    assert is_uri("urn:x:y") and is_uri("test://a/b?c=d#e") and not is_uri("/a/b") and not is_uri("a:")
