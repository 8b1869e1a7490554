"""Serves apps: pages as resources, and the links of tools to them for clients that show pages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from assay.extensions.apps import EXTENSION, shows_apps
from assay.model.app import KEY, MIME_TYPE, SCHEME, check_app_uri, tool_ui_of
from assay.model.content import Contents
from assay.model.definition import ToolDefinition
from assay.model.error import RpcError
from assay.model.result import ReadResult
from assay.model.visible import visible, visible_record
from assay.protocol.middleware import Serve
from assay.revisions.revision import Revision
from assay.server.calls.call import Call
from assay.server.components.resource_registry import Resources

from .handlers import ExtensionHandlers
from .joined import Extensions

logger = logging.getLogger("assay")
logger.addFilter(visible_record)


class AppHost(Protocol):
    """What has apps: a server."""

    resources: Resources
    extensions: Extensions


class AppHandlers(ExtensionHandlers):
    """The pages of a server, and who gets to know of them."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(EXTENSION)
        self._resources = resources
        self._metadata: dict[str, dict[str, Any]] = {}
        """What the contents of a page say in `_meta`, by URI or template."""
        self._reported: set[str] = set()
        """Pages that are missing, which the log names already."""

    def add(self, uri: str, function: Callable[..., Any], metadata: dict[str, Any], **options: Any) -> None:
        """
        Raises:
            RegistrationError: an option is invalid, or the URI is taken.
        """
        check_app_uri(uri)
        self._resources.add(uri, function, mime_type=MIME_TYPE, **options)
        self._metadata[uri] = metadata

    def wrap(self, method: str, serve: Serve, revision: Revision) -> Serve:
        changes = {"tools/list": self._change_list, "resources/read": self._change_contents}
        change = changes.get(method)
        if change is None:
            return serve

        async def serve_changed(call: Call) -> Any:
            return change(await serve(call), call)

        return serve_changed

    def _change_list(self, result: Any, call: Call) -> Any:
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(tools, list):
            return result
        call.private = True  # the list depends on what the client declares
        changed = [self._definition_for(tool, call) for tool in tools]
        return {**result, "tools": [tool for tool in changed if tool is not None]}

    def _definition_for(self, tool: Any, call: Call) -> Any | None:
        """A tool as a client may see it; None if it is only for pages, which the client does not show."""
        if not isinstance(tool, ToolDefinition):
            return tool
        ui = tool_ui_of(tool.meta)
        uri = ui.get("resourceUri")
        if not isinstance(uri, str) or tool.meta is None:
            return tool
        shows = shows_apps(call.peer.capabilities)
        if shows and self._exists(uri, tool.name):
            return tool
        if not shows and "model" not in ui.get("visibility", ("model",)):
            return None
        rest = {key: value for key, value in tool.meta.items() if key != KEY}
        return msgspec.structs.replace(tool, meta=rest or None)

    def _exists(self, uri: str, tool: str) -> bool:
        try:
            self._resources.find(uri)
        except RpcError:
            if uri not in self._reported:
                self._reported.add(uri)
                logger.warning(
                    "tool %s: its page %s is left out, because nothing is registered there: use @server.ui",
                    tool,
                    visible(uri),
                )
            return False
        return True

    def _change_contents(self, result: Any, call: Call) -> Any:
        if not isinstance(result, ReadResult) or not shows_apps(call.peer.capabilities):
            return result
        if not any(part.uri.startswith(SCHEME) for part in result.contents):
            return result
        call.private = True
        return ReadResult([self._with_metadata(part) for part in result.contents])

    def _with_metadata(self, part: Contents) -> Contents:
        try:
            metadata = self._metadata.get(self._resources.find(part.uri)[0].key)
        except RpcError:
            return part  # the author's own URI
        if not metadata:
            return part
        return msgspec.structs.replace(part, meta={KEY: metadata, **(part.meta or {})})


def open_apps(host: AppHost) -> AppHandlers:
    """What serves the apps of a server, from its first page or link on."""
    joined = next((each for each in host.extensions if isinstance(each, AppHandlers)), None)
    if joined is None:
        joined = AppHandlers(host.resources)
        host.extensions.join(joined)
    return joined
