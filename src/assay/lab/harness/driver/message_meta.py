"""What a request carries besides parameters: the client's `_meta`, and headers that mirror the body."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from assay.revisions.revision import Opening, Revision

PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = f"{PREFIX}protocolVersion"
CAPABILITIES_KEY: Final = f"{PREFIX}clientCapabilities"
CLIENT_KEY: Final = f"{PREFIX}clientInfo"
SERVER_KEY: Final = f"{PREFIX}serverInfo"
SUBSCRIPTION_KEY: Final = f"{PREFIX}subscriptionId"
LOG_LEVEL_KEY: Final = f"{PREFIX}logLevel"
CLIENT: Final = {"name": "assay-lab", "version": "1"}
PLAIN_FROM, PLAIN_TO = 0x20, 0x7E


def declared(revision: Revision, params: Any, capabilities: dict[str, Any]) -> Any:
    """The parameters with the client information that the revision requires. Parameters other than an object
    are returned unchanged."""
    if revision.opening is Opening.HANDSHAKE or not isinstance(params, dict):
        return params
    own = params.get("_meta")
    if own is not None and not isinstance(own, dict):
        return params
    meta = {VERSION_KEY: revision.date, CLIENT_KEY: CLIENT, CAPABILITIES_KEY: capabilities, **(own or {})}
    return {**params, "_meta": {key: value for key, value in meta.items() if value is not None}}


def mirror_headers(revision: Revision, message: Any) -> dict[str, str | None]:
    """Version, method and name of a message as headers; missing values are None."""
    fields = message if isinstance(message, dict) else {}
    params = fields.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else revision.date
    method = fields.get("method")
    key = (revision.http.mirrored or {}).get(method) if isinstance(method, str) else None
    name = params.get(key) if key else None
    return {
        "MCP-Protocol-Version": version if isinstance(version, str) else None,
        "Mcp-Method": method if isinstance(method, str) else None,
        "Mcp-Name": as_header(name) if isinstance(name, str) else None,
    }


def as_header(text: str) -> str:
    """A header value: plain if it is safe, else in Base64."""
    safe = all(PLAIN_FROM <= ord(character) <= PLAIN_TO for character in text) and text == text.strip(" ")
    if safe and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def param_headers(tool: dict[str, Any], arguments: dict[str, Any]) -> dict[str, str]:
    """`Mcp-Param-*` for the arguments that a tool's schema marks with `x-mcp-header`, at any depth."""
    schema = tool.get("inputSchema")
    return dict(_marked(schema, arguments)) if isinstance(schema, dict) else {}


def _marked(schema: dict[str, Any], arguments: dict[str, Any]) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    properties = schema.get("properties")
    for name, part in (properties if isinstance(properties, dict) else {}).items():
        value = arguments.get(name)
        if not isinstance(part, dict) or value is None:
            continue
        header = part.get("x-mcp-header")
        if isinstance(header, str) and header:
            headers.append((f"Mcp-Param-{header}", as_header(_text(value))))
        elif isinstance(value, dict):
            headers += _marked(part, value)
    return headers


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
