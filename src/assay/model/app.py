"""Apps as authors describe them: the page of a tool, and what the page may reach."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from .definition import ToolDefinition
from .error import RegistrationError

SCHEME: Final = "ui://"
MIME_TYPE: Final = "text/html;profile=mcp-app"
KEY: Final = "ui"
"""The key in `_meta` of tools and of the contents of pages."""
Visibility = Literal["model", "app"]
Permission = Literal["camera", "microphone", "geolocation", "clipboard_write"]
_WIRE_NAMES: Final = {"clipboard_write": "clipboardWrite"}
# A host writes these into a header: nothing may end the value or begin another directive.
_LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ORIGIN: Final = re.compile(rf"(https?|wss?)://(\*\.)?{_LABEL}(\.{_LABEL})*(:[0-9]{{1,5}})?", re.ASCII)
_DOMAIN: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
MOST_ORIGINS: Final = 100


class ToolUi(Struct, frozen=True):
    """The page of a tool: `@server.tool(ui=ToolUi("ui://shop/cart", visibility=["app"]))`.

    Args:
        uri: The page, registered with `@server.ui`.
        visibility: Who calls the tool: `model`, `app` for the page itself, or both.
    """

    uri: str
    visibility: Collection[Visibility] = ("model", "app")

    def __post_init__(self) -> None:
        check_app_uri(self.uri)
        values = self.visibility
        if isinstance(values, str) or not values or not set(values) <= set(get_args(Visibility)):
            raise RegistrationError(f'visibility is a list of "model" and "app", not {values!r:.60}')

    @property
    def is_for_model(self) -> bool:
        return "model" in self.visibility

    @property
    def wire(self) -> dict[str, Any]:
        """The value of `_meta.ui` in the definition of the tool."""
        is_default = set(self.visibility) == set(get_args(Visibility))
        return {"resourceUri": self.uri} | ({} if is_default else {"visibility": list(self.visibility)})


class Csp(Struct, frozen=True):
    """Other origins that a page may use: `Csp(connect=["https://api.example.com"])`. By default none.

    Args:
        connect: For requests of its scripts.
        resource: For images, scripts, styles, fonts and media.
        frame: For frames inside it.
        base_uri: For the base of its links.
    """

    connect: Sequence[str] = ()
    resource: Sequence[str] = ()
    frame: Sequence[str] = ()
    base_uri: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            _check_origins(name, getattr(self, name))

    @property
    def wire(self) -> dict[str, list[str]]:
        named = {wire: getattr(self, name) for name, wire in _WIRE_ORIGINS.items()}
        return {wire: list(origins) for wire, origins in named.items() if origins}


_WIRE_ORIGINS: Final = {
    "connect": "connectDomains",
    "resource": "resourceDomains",
    "frame": "frameDomains",
    "base_uri": "baseUriDomains",
}


def read_csp(value: Any) -> Csp:
    """What a page of a server asks for, without entries that are no origins."""
    lists = {name: value.get(wire) for name, wire in _WIRE_ORIGINS.items()} if isinstance(value, dict) else {}
    return Csp(
        **{
            name: tuple(origin for origin in origins[:MOST_ORIGINS] if _is_origin(origin))
            for name, origins in lists.items()
            if isinstance(origins, list)
        }
    )


def read_permissions(value: Any) -> tuple[Permission, ...]:
    """The permissions that a page of a server asks for, without unknown ones."""
    asked = value if isinstance(value, dict) else {}
    return tuple(name for name in get_args(Permission) if _WIRE_NAMES.get(name, name) in asked)


def is_domain(value: Any) -> bool:
    return isinstance(value, str) and _DOMAIN.fullmatch(value) is not None


def _is_origin(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 300 and _ORIGIN.fullmatch(value) is not None


def _check_origins(name: str, origins: Sequence[str]) -> None:
    if isinstance(origins, str):
        raise RegistrationError(f"csp: {name} is a list: write [{origins!r:.80}]")
    if len(origins) > MOST_ORIGINS:
        raise RegistrationError(f"csp: {name} has {len(origins)} origins, limit {MOST_ORIGINS}")
    for origin in origins:
        if not _is_origin(origin):
            raise RegistrationError(
                f"csp: {name} has {origin!r:.80}, which is not an origin: write scheme and host only,"
                " such as https://api.example.com or https://*.example.com"
            )


def check_app_uri(uri: str) -> None:
    """
    Raises:
        RegistrationError: not the URI of a page.
    """
    if not isinstance(uri, str) or not uri.startswith(SCHEME) or uri == SCHEME:
        raise RegistrationError(f"{uri!r:.80} is not the URI of a page: it must begin with {SCHEME}")


def read_tool_ui(ui: str | ToolUi | None, tool: str) -> ToolUi | None:
    """
    Raises:
        RegistrationError: not a page.
    """
    try:
        return ToolUi(ui) if isinstance(ui, str) else ui
    except RegistrationError as error:
        raise RegistrationError(f"tool {tool}: {error}") from None


def with_ui(tool: ToolDefinition, ui: ToolUi | None) -> ToolDefinition:
    """A tool with its page in `_meta`.

    Raises:
        RegistrationError: it names one already.
    """
    if ui is None:
        return tool
    if KEY in (tool.meta or {}):
        raise RegistrationError(f"tool {tool.name}: its page is in ui= and in meta[{KEY!r}]: keep ui=")
    return replace(tool, meta={**(tool.meta or {}), KEY: ui.wire})


def page_metadata(
    csp: Csp | None, permissions: Sequence[Permission], domain: str | None, border: bool | None
) -> dict[str, Any]:
    """The value of `_meta.ui` in the contents of a page.

    Raises:
        RegistrationError: an unknown permission, or an invalid domain.
    """
    known = get_args(Permission)
    if isinstance(permissions, str) or not set(permissions) <= set(known):
        raise RegistrationError(f"permissions is a list of {', '.join(known)}, not {permissions!r:.80}")
    if domain is not None and not is_domain(domain):
        raise RegistrationError(f"domain is a host name, not {domain!r:.80}")
    metadata: dict[str, Any] = {}
    if csp is not None:
        metadata["csp"] = csp.wire
    if permissions:
        metadata["permissions"] = {_WIRE_NAMES.get(name, name): {} for name in permissions}
    if domain is not None:
        metadata["domain"] = domain
    if border is not None:
        metadata["prefersBorder"] = border
    return metadata


def tool_ui_of(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a definition says about its page; empty if it says nothing."""
    value = (meta or {}).get(KEY)
    return value if isinstance(value, dict) else {}
