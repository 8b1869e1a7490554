"""The heads of a client's requests."""

from __future__ import annotations

from typing import Any

import pytest

from assay.model.jsonrpc import Notification, Request
from assay.protocol.http.mirror import read_value
from assay.protocol.http.parameter_header import HeaderParameter
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.transport.client.http_head import check_headers, header_value, mirror_lines

NEWEST = PER_REQUEST[-1]


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("two words", "two words"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("", "=?base64??="),
        (42, "42"),
        (-7, "-7"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_values_are_encoded_as_the_specification_says(value: Any, header: str) -> None:
    assert header_value(value) == header


@pytest.mark.parametrize("value", ["plain", " x", "ä", "=?base64?x?=", "x" * 1000, "ü" * 1000, "a\r\nb: c"])
def test_a_server_reads_back_what_was_written(value: str) -> None:
    assert read_value(header_value(value).encode()) == value


def test_requests_repeat_their_method_and_name() -> None:
    call = Request("1", "tools/call", {"name": "ä", "arguments": {"region": "eu"}})
    region = {"ä": (HeaderParameter(("region",), "Mcp-Param-Region"), HeaderParameter(("x",), "Mcp-Param-X"))}
    lines = mirror_lines(call, NEWEST, region)
    assert lines == "Mcp-Method: tools/call\r\nMcp-Name: =?base64?w6Q=?=\r\nMcp-Param-Region: eu\r\n"
    assert mirror_lines(Request("1", "tools/list"), NEWEST, {}) == "Mcp-Method: tools/list\r\n"


def test_only_revisions_with_such_headers_repeat_anything() -> None:
    assert mirror_lines(Request("1", "tools/list"), HANDSHAKE[-1], {}) == ""
    assert mirror_lines(Notification("notifications/x"), NEWEST, {}) == ""


@pytest.mark.parametrize("value", ["a\r\nb", "a\nb", "a\0b", " a", "a ", "€"])
def test_header_values_cannot_inject_lines_and_are_not_shown(value: str) -> None:
    with pytest.raises(ValueError, match=r"the value of header Token") as failure:
        check_headers({"Token": value})
    assert repr(value) not in str(failure.value)


def test_usual_headers_are_accepted() -> None:
    headers = {"Authorization": "Bearer abc.def", "X-Empty": "", "User-Agent": "me/1.0 (test)"}
    assert check_headers(headers) == headers
