"""What to change after an HTTP status that is not a success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PROXY_CREDENTIALS: Final = (
    "a proxy wants credentials, or others than these: pass proxy='http://user:password@host:port', "
    "or write them into HTTPS_PROXY"
)
HINTS: Final = {
    400: "the server does not accept the request: check the URL and the revision",
    401: "the server wants credentials, or others than these: pass auth=OAuth() or auth='token'",
    403: "the server refuses this caller: check the credentials and their scopes",
    404: "this path is not an MCP endpoint: check the URL, often it ends with /mcp",
    405: "this path does not accept POST: check the URL, often it ends with /mcp",
    406: "the server does not offer JSON or event streams here: check the URL",
    407: PROXY_CREDENTIALS,
    413: "the message is larger than the server accepts",
    415: "the server does not accept JSON here: check the URL",
    421: "the server does not know this host name: use the one that it is configured for",
    429: "too many requests: wait, then try again",
    502: "the proxy does not reach the server: is it running?",
    503: "the server is busy or stopping: try again later",
    504: "the proxy got no answer from the server in time",
}

GENERAL_HINTS: Final = {
    4: "the server refuses the request: its text or its documentation says why",
    5: "the server failed: look at its log",
}
"""By the first digit of the status."""


def failure_hint(status: int, headers: Mapping[str, str]) -> str:
    """What the user can change; with what the server says itself, if it says something."""
    hint = HINTS.get(status, "") or GENERAL_HINTS.get(status // 100, "")
    challenge = headers.get("www-authenticate")
    if status in (401, 403) and challenge:
        hint = f"{hint} (WWW-Authenticate: {challenge[:200]})"
    wait = headers.get("retry-after", "")
    if status in (429, 503) and wait.isdecimal() and len(wait) < 7:
        hint = f"{hint} (Retry-After: {wait} s)"
    return hint
