"""The codec: arbitrary bytes give a message or `MalformedMessage`, nothing else."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from assay import Limits, RpcError
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, MalformedMessage
from assay.model.jsonrpc import Envelope, Notification, Reply, Request
from assay.protocol.codec import decode, decode_params, encode, encode_outcome, error_reply

LIMITS = Limits()
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
IDS = st.integers(-(2**63), 2**64) | st.text(st.characters(codec="utf-8"))
PARAMS = st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=3)


def as_dict(message: Envelope) -> dict[str, Any]:
    """The fields of an envelope that are set, decoded."""
    fields = msgspec.structs.asdict(message)
    read = {
        name: msgspec.json.decode(value) if isinstance(value, Raw) else value
        for name, value in fields.items()
    }
    return {name: value for name, value in read.items() if value is not UNSET}


def refused(body: bytes, limits: Limits = LIMITS) -> tuple[int, Any]:
    with pytest.raises(MalformedMessage) as caught:
        decode(body, limits)
    return caught.value.code, caught.value.request_id


def request(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"} | fields).encode()


@settings(deadline=None)
@given(body=st.binary())
def test_arbitrary_bytes_are_a_message_or_malformed(body: bytes) -> None:
    try:
        decode(body, LIMITS)
    except MalformedMessage:
        pass


@settings(deadline=None)
@given(value=JSON)
def test_arbitrary_json_is_a_message_or_malformed(value: Any) -> None:
    try:
        decode(json.dumps(value).encode(), LIMITS)
    except MalformedMessage:
        pass


@settings(deadline=None)
@given(body=st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), JSON))
def test_arbitrary_envelope_is_a_message_or_malformed(body: dict[str, Any]) -> None:
    try:
        decode(json.dumps({"jsonrpc": "2.0", **body}).encode(), LIMITS)
    except MalformedMessage:
        pass


@settings(deadline=None)
@given(request_id=IDS, method=st.text(st.characters(codec="utf-8"), min_size=1), params=PARAMS)
def test_encoded_request_decodes_to_itself(
    request_id: int | str, method: str, params: dict[str, Any]
) -> None:
    message = decode(encode(Request(request_id, method, params)), LIMITS)
    assert as_dict(message) == {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


@settings(deadline=None)
@given(method=st.text(st.characters(codec="utf-8"), min_size=1), params=PARAMS)
def test_encoded_notification_decodes_to_itself(method: str, params: dict[str, Any]) -> None:
    message = decode(encode(Notification(method, params)), LIMITS)
    assert as_dict(message) == {"jsonrpc": "2.0", "method": method, "params": params}


@settings(deadline=None)
@given(request_id=IDS, result=JSON)
def test_encoded_reply_decodes_to_itself(request_id: int | str, result: Any) -> None:
    message = decode(encode(Reply(request_id, result)), LIMITS)
    assert as_dict(message) == {"jsonrpc": "2.0", "id": request_id, "params": {}, "result": result}


@settings(deadline=None)
@given(
    request_id=st.none() | IDS, code=st.integers(-(2**31), 2**31), text=st.text(st.characters(codec="utf-8"))
)
def test_encoded_error_decodes_to_itself(request_id: int | str | None, code: int, text: str) -> None:
    message = decode(encode(error_reply(RpcError(code, text), request_id)), LIMITS)
    known = {} if request_id is None else {"id": request_id}
    assert as_dict(message) == {
        "jsonrpc": "2.0",
        **known,
        "params": {},
        "error": {"code": code, "message": text},
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \r\n",
        b"{",
        b"nonsense",
        b"\xef\xbb\xbf" + request(),
        request().decode().encode("utf-16"),
        request() + b" x",
        request() + request(),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":01}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\udc00 tail"}}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","unread":"\xed\xa0\x80"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\x01"}}',
        b"{'jsonrpc':'2.0'}",
        b'"method":"ping"}',
        b"1 x",
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
        b'[{"jsonrpc":"2.0"',
    ],
)
def test_invalid_json_is_a_parse_error_without_an_id(body: bytes) -> None:
    assert refused(body) == (PARSE_ERROR, None)


@pytest.mark.parametrize(
    ("body", "request_id"),
    [
        (b"1", None),
        (b'"ping"', None),
        (b"null", None),
        (b"{}", None),
        (request(jsonrpc="1.0"), 1),
        (request(jsonrpc=2.0), 1),
        (request(jsonrpc=None, id="a"), "a"),
        (b'{"id":1,"method":"ping"}', 1),
        (request(method=1), 1),
        (request(method=None), 1),
        (request(method=""), 1),
        (request(id=None), None),
        (request(id=1.0), None),
        (request(id=1.5), None),
        (request(id=True), None),
        (request(id={}), None),
        (request(id=[1]), None),
        (request(params=[]), 1),
        (request(params="a"), 1),
        (request(params=1), 1),
        (request(params=False), 1),
        (request(result={}), 1),
        (request(error={}), 1),
        (b'{"jsonrpc":"2.0","id":1}', 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', 1),
        (b'{"jsonrpc":"2.0","result":{}}', None),
    ],
)
def test_json_that_is_not_a_message_is_an_invalid_request_with_its_id(body: bytes, request_id: Any) -> None:
    assert refused(body) == (INVALID_REQUEST, request_id)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (request(), {"id": 1, "method": "ping", "params": {}}),
        (request(id=""), {"id": "", "method": "ping", "params": {}}),
        (request(id=-7), {"id": -7, "method": "ping", "params": {}}),
        (request(id=10**30), {"id": 10**30, "method": "ping", "params": {}}),
        (request(params=None), {"id": 1, "method": "ping", "params": {}}),
        (request(unknown=[1]), {"id": 1, "method": "ping", "params": {}}),
        (b" \r\n\t" + request() + b"\n", {"id": 1, "method": "ping", "params": {}}),
        (b'{"jsonrpc":"2.0","id":-0,"method":"ping"}', {"id": 0, "method": "ping", "params": {}}),
        (
            b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}',
            {"id": 2, "method": "b", "params": {}},
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params": \n { "a" : [-0, "\\ud83d\\ude00"] } }',
            {"id": 1, "method": "ping", "params": {"a": [0, "\U0001f600"]}},
        ),
        (b'{"jsonrpc":"2.0","error":{"code":1}}', {"params": {}, "error": {"code": 1}}),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', {"id": 1, "params": {}, "result": None}),
    ],
)
def test_message_is_read(body: bytes, message: dict[str, Any]) -> None:
    decoded = decode(body, LIMITS)
    assert isinstance(decoded, Envelope)
    assert as_dict(decoded) == {"jsonrpc": "2.0", **message}


@pytest.mark.parametrize("open_close", [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize(("depth", "fits"), [(63, True), (64, False), (100_000, False)])
def test_nesting_is_bounded(open_close: tuple[bytes, bytes], depth: int, fits: bool) -> None:
    opening, closing = open_close
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":%b0%b}}'
    nested = body % (opening * (depth - 1), closing * (depth - 1))
    if fits:
        assert isinstance(decode(nested, LIMITS), Envelope)
    else:
        assert refused(nested) == (PARSE_ERROR, None)


NESTED: st.SearchStrategy[Any] = st.deferred(
    lambda: (
        st.sampled_from(["", "[", "]", '"', "\\", '\\"[', "{}"])
        | st.lists(NESTED, max_size=4)
        | st.dictionaries(st.sampled_from(["a", '"{', "]"]), NESTED)
    )
)


def depth_of(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


@settings(deadline=None)
@given(value=NESTED, siblings=st.integers(1, 200), limit=st.integers(3, 12))
def test_nesting_is_counted_exactly_and_outside_strings_only(value: Any, siblings: int, limit: int) -> None:
    body = request(params={"a": [value] * siblings})
    if depth_of(value) + 3 > limit:
        assert refused(body, Limits(depth=limit)) == (PARSE_ERROR, None)
    else:
        assert isinstance(decode(body, Limits(depth=limit)), Envelope)


def test_brackets_in_text_are_not_nesting() -> None:
    assert isinstance(decode(request(params={"a": '{["\\' * 1000}), LIMITS), Envelope)


def test_many_siblings_are_not_nesting() -> None:
    assert isinstance(decode(request(params={"a": [[]] * 1000}), LIMITS), Envelope)


def test_no_limit_of_depth_makes_the_decoder_crash() -> None:
    deep = request(params={"a": 0}).replace(b"0}", b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert refused(deep, Limits(depth=1_000_000)) == (PARSE_ERROR, None)


@pytest.mark.parametrize(("size", "fits"), [(len(request()), True), (len(request()) - 1, False)])
def test_size_is_bounded(size: int, fits: bool) -> None:
    limits = Limits(message_bytes=size)
    if fits:
        assert isinstance(decode(request(), limits), Envelope)
    else:
        assert refused(request(), limits) == (INVALID_REQUEST, None)


@pytest.mark.parametrize("body", [b"[]", b" \n[ ]", b"[" + b",".join([request()] * 101) + b"]"])
def test_batch_of_nothing_or_too_much_is_an_invalid_request(body: bytes) -> None:
    assert refused(body) == (INVALID_REQUEST, None)


def test_batch_keeps_the_order_of_good_and_bad_members() -> None:
    members = decode(b"[%b,1,%b,%b]" % (request(), request(id=2, method=0), request(id=3)), LIMITS)
    assert isinstance(members, list)
    assert [
        (member.code, member.request_id) if isinstance(member, MalformedMessage) else member.id
        for member in members
    ] == [1, (INVALID_REQUEST, None), (INVALID_REQUEST, 2), 3]


def test_batch_inside_a_batch_is_a_bad_member() -> None:
    (member,) = decode(b"[[%b]]" % request(), LIMITS)  # type: ignore[misc]
    assert isinstance(member, MalformedMessage)
    assert member.code == INVALID_REQUEST


class Point(msgspec.Struct):
    x: int


def test_params_are_read_by_their_own_decoder() -> None:
    assert decode_params(Raw(b'{"x":1}'), msgspec.json.Decoder(Point).decode) == Point(1)


@pytest.mark.parametrize(
    ("raw", "code"),
    [(b"{}", INVALID_PARAMS), (b'{"x":"1"}', INVALID_PARAMS), (b'{"x":1', PARSE_ERROR)],
)
def test_params_that_do_not_fit_are_refused(raw: bytes, code: int) -> None:
    with pytest.raises(RpcError) as caught:
        decode_params(Raw(raw), msgspec.json.Decoder(Point).decode)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("error", "request_id", "wire"),
    [
        (RpcError(1, "a"), None, {"jsonrpc": "2.0", "error": {"code": 1, "message": "a"}}),
        (RpcError(1, "a"), 0, {"jsonrpc": "2.0", "id": 0, "error": {"code": 1, "message": "a"}}),
        (
            RpcError(1, "a", {"uri": "a:b"}),
            "",
            {"jsonrpc": "2.0", "id": "", "error": {"code": 1, "message": "a", "data": {"uri": "a:b"}}},
        ),
    ],
)
def test_error_leaves_out_what_it_does_not_have(
    error: RpcError, request_id: Any, wire: dict[str, Any]
) -> None:
    assert json.loads(encode(error_reply(error, request_id))) == wire


@pytest.mark.parametrize("result", [object(), {"a": {1, object()}}, "\ud800", {1j: 2}])
def test_result_that_json_cannot_represent_becomes_an_internal_error(result: Any) -> None:
    answer = json.loads(encode_outcome(Reply(7, result)))
    assert (answer["id"], answer["error"]["code"]) == (7, INTERNAL_ERROR)


def test_recursive_result_becomes_an_internal_error() -> None:
    ring: list[Any] = []
    ring.append(ring)
    answer = json.loads(encode_outcome(Reply(7, ring)))
    assert (answer["id"], answer["error"]["code"]) == (7, INTERNAL_ERROR)
