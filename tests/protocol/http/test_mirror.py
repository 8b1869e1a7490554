"""A request whose headers differ from its body is refused."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.error import HEADER_MISMATCH, RpcError
from assay.model.jsonrpc import Envelope
from assay.model.limits import Limits
from assay.protocol.codec import decode
from assay.protocol.http.mirror import check_mirrors, check_name, read_value
from tests.driving.describing import REVISION, describe

GOOD = {
    b"mcp-protocol-version": REVISION.date.encode(),
    b"mcp-method": b"tools/call",
    b"mcp-name": b"add",
}


def wrap(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return b"=?base64?" + b64encode(data) + b"?="


def check(headers: dict[bytes, bytes], method: str = "tools/call", **params: Any) -> None:
    message = decode(json.dumps(describe(method, params)).encode(), Limits())
    assert isinstance(message, Envelope)
    check_mirrors(message, REVISION.date, headers, REVISION.http)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"us-west1", "us-west1"),
        (b"", ""),
        (b"  a b \t", "a b"),
        (b"=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
        (b"=?base64?IHBhZGRlZCA=?=", " padded "),
        (b"=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"),
        (b"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
        (b"=?base64??=", ""),
        (b" =?base64?YQ==?= ", "a"),
        # Markers in another case, or only one of them, are plain text.
        (b"=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        (b"=?Base64?YQ==?=", "=?Base64?YQ==?="),
        (b"=?base64?YQ==", "=?base64?YQ=="),
        (b"YQ==?=", "YQ==?="),
        (b"=?base64?=", "=?base64?="),
        (b"=?base64 ?YQ==?=", "=?base64 ?YQ==?="),
        (b"x=?base64?YQ==?=", "x=?base64?YQ==?="),
    ],
)
def test_value_is_read(raw: bytes, text: str) -> None:
    """Value encoding examples of basic/transports/streamable-http; XH-13."""
    assert read_value(raw) == text


@pytest.mark.parametrize(
    "raw",
    [
        b"=?base64?YQ?=",
        b"=?base64?YQ=?=",
        b"=?base64?YQ===?=",
        b"=?base64?=YQ=?=",
        b"=?base64?Y?=",
        b"=?base64?Y Q==?=",
        b"=?base64?YQ==YQ==?=",
        b"=?base64?YQ==\t?=",
        b"=?base64?-_-_?=",
        b"=?base64?!!!!?=",
        b"=?base64??base64??=",
        b"=?base64?/w==?=",  # 0xff is not UTF-8
        b"=?base64?7aCA?=",  # a lone surrogate is not UTF-8 either
    ],
)
def test_invalid_base64_is_refused(raw: bytes) -> None:
    with pytest.raises(RpcError) as caught:
        read_value(raw)
    assert caught.value.code == HEADER_MISMATCH


@pytest.mark.parametrize("byte", [*range(9), *range(10, 32), 127, 128, 0xA0, 0xE9, 0xFF])
@pytest.mark.parametrize("form", [b"a%sb", b"%sa", b"a%s", b"=?base64?%sYQ==?="])
def test_invalid_header_characters_are_refused(byte: int, form: bytes) -> None:
    with pytest.raises(RpcError) as caught:
        read_value(form % bytes([byte]))
    assert caught.value.code == HEADER_MISMATCH


@given(text=st.text(max_size=40))
def test_every_text_survives_the_base64_form(text: str) -> None:
    assert read_value(wrap(text)) == text


@given(raw=st.binary(max_size=60))
def test_every_value_is_read_or_refused(raw: bytes) -> None:
    try:
        assert isinstance(read_value(raw), str)
    except RpcError as error:
        assert error.code == HEADER_MISMATCH


@pytest.mark.parametrize(
    ("headers", "method", "params"),
    [
        (GOOD, "tools/call", {"name": "add"}),
        (GOOD | {b"mcp-name": b"  add "}, "tools/call", {"name": "add"}),
        (GOOD | {b"mcp-name": wrap("add")}, "tools/call", {"name": "add"}),
        (GOOD | {b"mcp-name": wrap("größe")}, "tools/call", {"name": "größe"}),
        (GOOD | {b"mcp-name": wrap("=?base64?YQ==?=")}, "tools/call", {"name": "=?base64?YQ==?="}),
        (GOOD | {b"mcp-name": wrap("")}, "tools/call", {"name": ""}),
        (GOOD | {b"mcp-method": b"prompts/get"}, "prompts/get", {"name": "add"}),
        (
            GOOD | {b"mcp-method": b"resources/read", b"mcp-name": b"a://b"},
            "resources/read",
            {"uri": "a://b", "name": "other"},
        ),
        # Only three methods have a name to mirror; on others the header is ignored.
        (GOOD | {b"mcp-method": b"tools/list"}, "tools/list", {}),
        # Without the parameter there is nothing to mirror: the method refuses the request.
        (GOOD, "tools/call", {}),
        (GOOD, "tools/call", {"name": 5}),
    ],
)
def test_matching_headers_pass(headers: dict[bytes, bytes], method: str, params: dict[str, Any]) -> None:
    check(headers, method, **params)


@pytest.mark.parametrize("header", GOOD)
@pytest.mark.parametrize(
    "value", [None, b"", b"other", b"ADD", b"Tools/Call", b"add\x00", b"add\xff", b"a dd"]
)
def test_headers_that_are_missing_or_differ_are_refused(header: bytes, value: bytes | None) -> None:
    """Values are case-sensitive, names are not: ASGI has them in lower case."""
    headers = {name: old for name, old in GOOD.items() if name != header}
    if value is not None:
        headers[header] = value
    with pytest.raises(RpcError) as caught:
        check(headers, name="add")
    assert caught.value.code == HEADER_MISMATCH


@pytest.mark.parametrize("header", [b"mcp-protocol-version", b"mcp-method"])
def test_only_names_and_parameters_have_a_base64_form(header: bytes) -> None:
    """Proxies that route by these two do not decode them."""
    with pytest.raises(RpcError) as caught:
        check(GOOD | {header: wrap(GOOD[header])}, name="add")
    assert caught.value.code == HEADER_MISMATCH


@pytest.mark.parametrize("name", ["größe", "a\x00b", "a\nb", "a\x7fb", "=?base64?YQ==?="])
def test_names_that_need_the_base64_form_are_not_taken_without_it(name: str) -> None:
    """Even if the bytes are the same: a proxy may read them differently."""
    with pytest.raises(RpcError) as caught:
        check(GOOD | {b"mcp-name": name.encode()}, name=name)
    assert caught.value.code == HEADER_MISMATCH


def test_a_bad_value_elsewhere_does_not_switch_the_check_off() -> None:
    """A tool call ignores `uri`, so the method would not report it."""
    with pytest.raises(RpcError) as caught:
        check(GOOD | {b"mcp-name": b"harmless"}, name="add", uri=5)
    assert caught.value.code == HEADER_MISMATCH


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("äpfel".encode(), "äpfel"),  # must be sent in Base64 form
        (b"=?base64?YQ==?=", "=?base64?YQ==?="),  # reads as `a`
        (b"Add", "add"),
        (b"", "add"),
    ],
)
def test_name_that_looks_the_same_is_read_as_a_header_is(raw: bytes, name: str) -> None:
    with pytest.raises(RpcError) as refused:
        check_name({b"mcp-name": raw}, name)
    assert refused.value.code == HEADER_MISMATCH


@pytest.mark.parametrize("raw", [b"add", b" add ", wrap("add")])
def test_name_is_recognised_in_each_of_its_forms(raw: bytes) -> None:
    check_name({b"mcp-name": raw}, "add")


@pytest.mark.parametrize("method", ["no/such", "tools/cäll", ""])
def test_unknown_method_is_compared_too(method: str) -> None:
    with pytest.raises(RpcError) as refused:
        check({**GOOD, b"mcp-method": b"" if method else b"x"}, method or "other")
    assert refused.value.code == HEADER_MISMATCH
