"""Rows about the message itself, with the same answer on every transport."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from assay.model.error import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from tests.bad_input.row import NOTHING, Ended, Failed, Row, Served, apart, both, on_stdio
from tests.bad_input.subject import DEPTH, MESSAGE_BYTES

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode()


def with_id(literal: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % literal


def calling(tool: bytes, arguments: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}' % (
        tool,
        arguments,
    )


def ignored(literal: bytes) -> bytes:
    """A ping with a parameter that no handler reads."""
    return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":%s}}' % literal


NOT_JSON = Failed(PARSE_ERROR, text="parse error")
RFC = "RFC 8259 does not allow it; the id cannot be read"

JSON = [
    both("a truncated message", b'{"jsonrpc":"2.0","id":1,"meth', NOT_JSON, RFC),
    both("plain text", b"hello", NOT_JSON, RFC),
    both("two messages in one", PING + PING, NOT_JSON, "one message is one JSON text"),
    both("trailing comma", b'{"jsonrpc":"2.0","id":1,"method":"ping",}', NOT_JSON, RFC),
    both("single quotes", b"{'jsonrpc':'2.0','id':1,'method':'ping'}", NOT_JSON, RFC),
    both("a comment", b'{"jsonrpc":"2.0",/* one */"id":1,"method":"ping"}', NOT_JSON, RFC),
    both("NaN in an unused parameter", ignored(b"NaN"), NOT_JSON, "unused parameters are checked, too"),
    both("a number with a leading zero", ignored(b"01"), NOT_JSON, RFC),
    both("a tab inside a string", ignored(b'"a\tb"'), NOT_JSON, RFC),
    both("an unknown escape", ignored(b'"\\x"'), NOT_JSON, RFC),
    both("a NUL byte", b"\0", NOT_JSON, RFC),
    both("a NUL byte after the message", PING + b"\0", NOT_JSON, RFC),
    both("byte order mark", b"\xef\xbb\xbf" + PING, NOT_JSON, "RFC 8259, 8.1: a sender must not add one"),
    both("UTF-16", PING.decode().encode("utf-16-le"), NOT_JSON, "MCP messages are UTF-8"),
    both("invalid UTF-8", ignored(b'"\xff"'), NOT_JSON, "MCP messages are UTF-8"),
    both("overlong UTF-8", ignored(b'"\xc0\xaf"'), NOT_JSON, "a second encoding of a slash"),
    both("UTF-8 cut inside a character", b'{"jsonrpc":"2.0","id":1,"method":"\xc3', NOT_JSON, "not UTF-8"),
    both("a surrogate as UTF-8", ignored(b'"\xed\xa0\x80"'), NOT_JSON, "not a character"),
    both("a lone surrogate, escaped", calling(b"echo", b'{"text":"\\ud800"}'), NOT_JSON, "not a character"),
    both("a lone surrogate in an id", with_id(b'"\\udc00"'), NOT_JSON, "it could not be echoed"),
    both("surrogates in the wrong order", ignored(b'"\\udc00\\ud800"'), NOT_JSON, "not a character"),
    apart(
        "nothing",
        b"",
        (),
        NOT_JSON,
        "an empty line is ignored; an empty body or frame is a bad message",
        websocket=(NOT_JSON,),
    ),
    apart(
        "blanks",
        b" \t \r",
        (),
        NOT_JSON,
        "a blank line is ignored; a blank body or frame is a bad message",
        websocket=(NOT_JSON,),
    ),
    apart(
        "a message over two lines",
        b'{"jsonrpc":"2.0","id":1,\n"method":"ping"}',
        (NOT_JSON, NOT_JSON),
        Served(1),
        "on stdio each line is a bad message; a body or frame may contain line breaks",
        websocket=(Served(1),),
    ),
    on_stdio("line ends with CR LF", PING + b"\r", (Served(1),), "clients on Windows send it"),
]

TOO_DEEP = Failed(PARSE_ERROR, text="nested too deep")
NESTED = "bounded by `limits.depth`, here 64"
SIZES = [
    both("nested as deep as allowed", ignored(b"[" * (DEPTH - 2) + b"]" * (DEPTH - 2)), Served(1), NESTED),
    both("nested one too deep", ignored(b"[" * (DEPTH - 1) + b"]" * (DEPTH - 1)), TOO_DEEP, NESTED),
    both("thousands of open arrays", b"[" * 50_000, TOO_DEEP, "the parser must not recurse"),
    both("thousands of open objects", b'{"a":' * 10_000, TOO_DEEP, "the parser must not recurse"),
    both("brackets in a string", ignored(b'"' + b"[{" * 1000 + b'"'), Served(1), "not nested"),
    on_stdio(
        "a line over the limit",
        ignored(b'"' + b"x" * MESSAGE_BYTES + b'"'),
        (Failed(INVALID_REQUEST, text="line too long"),),
        "bounded by `limits.message_bytes`; discarded as it arrives, so the id is unknown",
        websocket=Ended(1009),
    ),
    both("an integer id beyond 64 bits", with_id(b"9" * 30), Served(int("9" * 30)), "JSON sets no range"),
    both(
        "an id of 5,000 digits",
        with_id(b"9" * 5000),
        Failed(PARSE_ERROR, text="out of range"),
        "RFC 8259, 9: a parser may bound numbers",
    ),
    both("an id of 1e999", with_id(b"1e999"), Failed(PARSE_ERROR, text="out of range"), "not representable"),
    both("1e999 in an unused parameter", ignored(b"1e999"), Served(1), "valid JSON, and not decoded"),
    both(
        "1e999 as an argument",
        calling(b"add", b'{"a":1e999,"b":1}'),
        Served(1, "out of range"),
        "a tool error, so that the model can correct it",
    ),
    both(
        "an argument of 5,000 digits",
        calling(b"add", b'{"a":' + b"9" * 5000 + b',"b":1}'),
        Served(1, "out of range"),
        "a tool error, so that the model can correct it",
    ),
    both(
        "an argument beyond 64 bits",
        calling(b"add", b'{"a":' + b"9" * 30 + b',"b":1}'),
        Served(1),
        "Python's integers are unbounded",
    ),
]

ENVELOPE_RULE = "JSON-RPC 2.0, 4: `jsonrpc` is exactly the string `2.0`"
NO_METHOD = Failed(INVALID_REQUEST, 1, "a message needs a method")
BAD = Failed(INVALID_REQUEST, 1, "invalid request")
NOT_AN_OBJECT = Failed(INVALID_REQUEST, text="must be a JSON object")
ENVELOPE = [
    both("a string", b'"ping"', NOT_AN_OBJECT, "a message is an object"),
    both("a number", b"42", NOT_AN_OBJECT, "a message is an object"),
    both("null", b"null", NOT_AN_OBJECT, "a message is an object"),
    both("true", b"true", NOT_AN_OBJECT, "a message is an object"),
    both("an empty object", b"{}", Failed(INVALID_REQUEST, text="jsonrpc"), ENVELOPE_RULE),
    both("`jsonrpc` missing", b'{"id":1,"method":"ping"}', BAD, ENVELOPE_RULE),
    both("`jsonrpc` is 1.0", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', BAD, ENVELOPE_RULE),
    both("`jsonrpc` is a number", b'{"jsonrpc":2.0,"id":1,"method":"ping"}', BAD, ENVELOPE_RULE),
    both("`jsonrpc` is null", b'{"jsonrpc":null,"id":1,"method":"ping"}', BAD, ENVELOPE_RULE),
    both(
        "`JSONRPC` in capitals", b'{"JSONRPC":"2.0","id":1,"method":"ping"}', BAD, "names are case-sensitive"
    ),
    both("`method` missing", message(id=1), NO_METHOD, "neither a request nor a reply"),
    both(
        "`method` empty",
        message(id=1, method=""),
        Failed(INVALID_REQUEST, 1, "must not be empty"),
        "no method has that name",
    ),
    both("`method` is a number", message(id=1, method=7), BAD, "a method is a string"),
    both("`method` is null", message(id=1, method=None), BAD, "a method is a string"),
    both("`method` is a list", message(id=1, method=["ping"]), BAD, "a method is a string"),
    both(
        "`method` unknown",
        message(id=1, method="no/such"),
        Failed(METHOD_NOT_FOUND, 1, "no/such"),
        "JSON-RPC 2.0; HTTP 200, because 404 means a lost session",
    ),
    both(
        "`method` in capitals",
        message(id=1, method="PING"),
        Failed(METHOD_NOT_FOUND, 1),
        "names are case-sensitive",
    ),
    both(
        "a notification's name as a request",
        message(id=1, method="notifications/initialized"),
        Failed(METHOD_NOT_FOUND, 1),
        "not the name of a request",
    ),
    both(
        "method and result",
        message(id=1, method="ping", result={}),
        Failed(INVALID_REQUEST, 1, "either a method or a result"),
        "a message is of one kind",
    ),
    both("unknown members", message(id=1, method="ping", extra=[1]), Served(1), "the schemas are open"),
]

PARAMS_RULE = "MCP parameters are objects"
BAD_PARAMS = Failed(INVALID_REQUEST, 1, "params must be an object")
PARAMS = [
    both("`params` is a list", message(id=1, method="ping", params=[]), BAD_PARAMS, PARAMS_RULE),
    both("`params` is a string", message(id=1, method="ping", params="x"), BAD_PARAMS, PARAMS_RULE),
    both("`params` is a number", message(id=1, method="ping", params=0), BAD_PARAMS, PARAMS_RULE),
    both("`params` is true", message(id=1, method="ping", params=True), BAD_PARAMS, PARAMS_RULE),
    both(
        "`params` is null", message(id=1, method="ping", params=None), Served(1), "it can only mean absence"
    ),
    both(
        "a notification's `params` is a list",
        message(method="notifications/initialized", params=[]),
        Failed(INVALID_REQUEST, text="params must be an object"),
        "a malformed message is not a notification",
    ),
    both(
        "`params` of another method",
        message(id=1, method="tools/call", params={"uri": "a://b"}),
        Failed(INVALID_PARAMS, 1, "name"),
        "JSON-RPC 2.0: invalid parameters",
    ),
    both(
        "the name of a tool is a number",
        message(id=1, method="tools/call", params={"name": 7}),
        Failed(INVALID_PARAMS, 1, "name"),
        "JSON-RPC 2.0: invalid parameters",
    ),
    both(
        "an unknown tool",
        message(id=1, method="tools/call", params={"name": "none"}),
        Failed(INVALID_PARAMS, 1, "none"),
        "as in the examples of every revision",
    ),
    both(
        "`arguments` is a list",
        calling(b"add", b"[1,2]"),
        Served(1, "invalid arguments"),
        "from 2025-11-25 a tool error, so that the model can correct it",
    ),
    both(
        "an argument of the wrong type",
        calling(b"add", b'{"a":"1","b":2}'),
        Served(1, "invalid arguments"),
        "from 2025-11-25 a tool error, so that the model can correct it",
    ),
    both(
        "an unknown cursor",
        message(id=1, method="tools/list", params={"cursor": "x"}),
        Failed(INVALID_PARAMS, 1, "cursor"),
        "pagination: invalid cursors are -32602",
    ),
]

IDS_RULE = "MCP: an id is a string or an integer; other values are not echoed"
BAD_ID = Failed(INVALID_REQUEST, text="invalid request")
IDS = [
    both("null", with_id(b"null"), BAD_ID, IDS_RULE),
    both("a fraction", with_id(b"1.5"), BAD_ID, IDS_RULE),
    both("an integer written as a fraction", with_id(b"1.0"), BAD_ID, IDS_RULE),
    both("true", with_id(b"true"), BAD_ID, IDS_RULE),
    both("an object", with_id(b"{}"), BAD_ID, IDS_RULE),
    both("a list", with_id(b"[1]"), BAD_ID, IDS_RULE),
    both("an empty string", with_id(b'""'), Served(""), "still a string"),
    both("zero, negative", with_id(b"-0"), Served(0), "still an integer"),
    both(
        "a string of 10,000 characters",
        with_id(b'"' + b"i" * 10_000 + b'"'),
        Served("i" * 10_000),
        "echoed unchanged",
    ),
]

LAST = "RFC 8259, 4: names should be unique; the last one counts, as in most parsers"
DUPLICATES = [
    both("`id` twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', Served(2), LAST),
    both("`method` twice", b'{"jsonrpc":"2.0","id":1,"method":"no/such","method":"ping"}', Served(1), LAST),
    both(
        "`jsonrpc` twice, once wrong",
        b'{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"method":"ping"}',
        BAD,
        "each value must be valid",
    ),
    both(
        "`id` twice, the last one bad",
        b'{"jsonrpc":"2.0","id":1,"id":null,"method":"ping"}',
        BAD_ID,
        "each value must be valid",
    ),
    both("an argument twice", calling(b"add", b'{"a":1,"a":2,"b":3}'), Served(1), LAST),
]

UNASKED = "it answers no request; on stdio it is ignored"
NEVER_SENT = Failed(INVALID_REQUEST, text="never sent")


def unasked(name: str, sent: bytes) -> Row:
    return apart(name, sent, (), NEVER_SENT, UNASKED)


NEITHER = "JSON-RPC 2.0, 5: either `result` or `error`, not both"
REPLIES = [
    unasked("a result without a request", message(id="assay-1", result={})),
    unasked("a result with a number as id", message(id=99, result={})),
    unasked("an error without a request", message(id="assay-99", error={"code": 1, "message": "no"})),
    unasked("an error without an id", message(error={"code": 1, "message": "no"})),
    both(
        "result and error", message(id=1, result={}, error={"code": 1, "message": "no"}), NO_METHOD, NEITHER
    ),
    both("neither result nor error", message(id="assay-1"), replace(NO_METHOD, id="assay-1"), NEITHER),
    both(
        "a result without an id",
        message(result={}),
        Failed(INVALID_REQUEST, text="needs the id"),
        "it matches no request",
    ),
]

IGNORED = "notifications are never answered"
NOTIFICATIONS = [
    both("an unknown one", message(method="notifications/no/such"), NOTHING, IGNORED),
    both("a request's name without an id", message(method="tools/list"), NOTHING, IGNORED),
    both(
        "cancelling an unknown request",
        message(method="notifications/cancelled", params={"requestId": 99}),
        NOTHING,
        "the request may have ended already",
    ),
    both(
        "cancelling nothing", message(method="notifications/cancelled"), NOTHING, "malformed ones are ignored"
    ),
    both(
        "cancelling an object",
        message(method="notifications/cancelled", params={"requestId": {}}),
        NOTHING,
        "malformed ones are ignored",
    ),
]

SECTIONS = {
    "JSON": JSON,
    "Sizes and numbers": SIZES,
    "Envelope": ENVELOPE,
    "Parameters": PARAMS,
    "Ids": IDS,
    "Duplicate keys": DUPLICATES,
    "Replies": REPLIES,
    "Notifications": NOTIFICATIONS,
}
