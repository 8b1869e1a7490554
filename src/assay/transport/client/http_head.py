"""The heads of a client's HTTP requests, and the headers that repeat their bodies."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from assay.model.jsonrpc import Request
from assay.protocol.http.mirror import CLOSE, OPEN, parameter_of_extension
from assay.protocol.http.parameter_header import HeaderParameter
from assay.revisions.revision import Revision

from .message import Outgoing
from .url import Address

NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
VALUE: Final = re.compile(r"[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?|")
PLAIN: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
OURS: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "host"),
        *("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "transfer-encoding"),
        "proxy-authorization",
    }
)
"""Headers that the client writes itself."""


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The user's headers, if they can be sent.

    Raises:
        TypeError: a value is not a text.
        ValueError: one has an invalid name or value, or the client writes it itself.
    """
    for name, value in headers.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"not a header name: {name!r}")
        if name.lower() in OURS:
            raise ValueError(f"the client writes the header {name} itself: leave it out")
        if not isinstance(value, str):
            raise TypeError(f"the value of header {name} must be a text, not {type(value).__name__}")
        if not VALUE.fullmatch(value):
            # The value may be a secret, so the error does not show it.
            raise ValueError(f"the value of header {name} has characters that no header may contain")
    return dict(headers)


def user_lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def request_head(method: str, address: Address, lines: str) -> str:
    """The beginning of a head; the lines of the user and of the session included."""
    return f"{method} {address.target} HTTP/1.1\r\nHost: {address.authority}\r\n{lines}"


def mirror_lines(
    message: Outgoing, revision: Revision, parameters: Mapping[str, tuple[HeaderParameter, ...]]
) -> str:
    """The headers that repeat the body, in revisions that have them. `parameters` are those of tools."""
    mirrored = revision.http.mirrored
    if mirrored is None or not isinstance(message, Request):
        return ""
    parameter = mirrored.get(message.method)
    if parameter is None and message.method not in revision.requests:
        parameter = parameter_of_extension(message.method)
    if parameter is None:
        return f"Mcp-Method: {header_value(message.method)}\r\n"
    name = message.params.get(parameter, "")
    lines = f"Mcp-Method: {message.method}\r\nMcp-Name: {header_value(name)}\r\n"
    if parameters and message.method == "tools/call":
        for repeated in parameters.get(name, ()):
            value = repeated.value_in(message.params.get("arguments"))
            if value is not None:
                lines += f"{repeated.header}: {header_value(value)}\r\n"
    return lines


@lru_cache(maxsize=256)
def _plain_or_encoded(text: str) -> str:
    if PLAIN.fullmatch(text) and not (text.startswith(OPEN) and text.endswith(CLOSE)):
        return text
    return f"{OPEN}{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}{CLOSE}"


def header_value(value: Any) -> str:
    """A value of the body as a header: plain, or in Base64 if a header cannot contain it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return _plain_or_encoded(text) if len(text) <= 256 else _plain_or_encoded.__wrapped__(text)
