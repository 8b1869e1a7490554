"""Pages of tools, as a host needs them: read, checked, and with the policy that the host must enforce."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from assay.extensions.apps import EXTENSION
from assay.model.app import (
    KEY,
    MIME_TYPE,
    SCHEME,
    Csp,
    Permission,
    is_domain,
    read_csp,
    read_permissions,
    tool_ui_of,
)
from assay.model.client_error import InvalidAnswer
from assay.model.content import Contents
from assay.model.definition import ToolDefinition
from assay.model.visible import visible

SETTINGS: Final[Mapping[str, Any]] = {"mimeTypes": [MIME_TYPE]}
MOST_BYTES: Final = 16 * 1024 * 1024


class AppPage(Struct, frozen=True):
    """The page of a tool, from `Client.app`. It comes from the server: show it in a sandboxed frame of
    another origin, under its `content_security_policy`.

    Args:
        uri: Its URI.
        html: The document.
        csp: The other origins that it asks for; entries that are no origins are left out.
        permissions: What it asks the browser for.
        domain: The host name that it asks to be shown under.
        border: Whether it asks for a border.
        for_model: Whether the model may see and call the tool.
        for_app: Whether the page may call the tool.
    """

    uri: str
    html: str
    csp: Csp = Csp()
    permissions: tuple[Permission, ...] = ()
    domain: str | None = None
    border: bool | None = None
    for_model: bool = True
    for_app: bool = True

    @property
    def content_security_policy(self) -> str:
        """The header value for the frame: nothing is allowed but what is inside the page and what it
        declares."""
        csp = self.csp
        files = " ".join(["'self'", *csp.resource])
        rules = {
            "default-src": "'none'",
            "script-src": f"{files} 'unsafe-inline'",
            "style-src": f"{files} 'unsafe-inline'",
            "img-src": f"{files} data:",
            "font-src": files,
            "media-src": f"{files} data:",
            "connect-src": " ".join(csp.connect) or "'none'",
            "frame-src": " ".join(csp.frame) or "'none'",
            "base-uri": " ".join(csp.base_uri) or "'self'",
            "object-src": "'none'",
        }
        return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def with_apps(capabilities: Mapping[str, Any] | None) -> dict[str, Any]:
    """The capabilities of a client that shows pages."""
    declared = dict(capabilities or {})
    return declared | {"extensions": {EXTENSION.name: SETTINGS, **declared.get("extensions", {})}}


async def read_app(read: Callable[[str], Awaitable[list[Contents]]], tool: ToolDefinition) -> AppPage | None:
    """
    Raises:
        InvalidAnswer: the page breaks the rules of the extension.
        ClientError: no answer, or an error.
    """
    ui = tool_ui_of(tool.meta)
    uri = ui.get("resourceUri")
    if uri is None:
        return None
    if not isinstance(uri, str) or not uri.startswith(SCHEME):
        raise _unusable(uri, f"the URI of a page begins with {SCHEME}")
    parts = await read(uri)
    if len(parts) != 1 or parts[0].mime_type != MIME_TYPE:
        types = ", ".join(str(part.mime_type) for part in parts)
        raise _unusable(uri, f"a page is one document of type {MIME_TYPE}, not {types or 'nothing'}")
    visibility = ui.get("visibility", ["model", "app"])
    known = visibility if isinstance(visibility, list) else []
    return AppPage(
        uri, _text(parts[0]), **_metadata(parts[0]), for_model="model" in known, for_app="app" in known
    )


def _text(part: Contents) -> str:
    try:
        text = part.text if part.text is not None else (part.blob or b"").decode()
    except UnicodeDecodeError:
        raise _unusable(part.uri, "it is not UTF-8") from None
    if len(text) > MOST_BYTES:
        raise _unusable(part.uri, f"it has {len(text)} characters: limit {MOST_BYTES}")
    return text


def _metadata(part: Contents) -> dict[str, Any]:
    value = (part.meta or {}).get(KEY)
    ui = value if isinstance(value, dict) else {}
    domain, border = ui.get("domain"), ui.get("prefersBorder")
    return {
        "csp": read_csp(ui.get("csp")),
        "permissions": read_permissions(ui.get("permissions")),
        "domain": domain if is_domain(domain) else None,
        "border": border if isinstance(border, bool) else None,
    }


def _unusable(uri: Any, reason: str) -> InvalidAnswer:
    return InvalidAnswer(f"do not show {visible(str(uri)[:200])}: {visible(reason)}")
