"""A plugin that can be loaded and unloaded: a tool, a prompt and a resource. Clients are notified of each
list."""

from __future__ import annotations

from typing import Annotated, Final

from assay import Context, Server

TOOL: Final = "plugin_reverse"
PROMPT: Final = "plugin_greeting"
RESOURCE: Final = "file:///plugin/readme.md"
README: Final = "plugin/readme.md"
PARTS: Final = {"tool": TOOL, "prompt": PROMPT, "resource": RESOURCE}
ADDS: Final = {"destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
REMOVES: Final = {"idempotentHint": True, "openWorldHint": False}


async def reverse(text: Annotated[str, "The text to reverse"]) -> str:
    """Reverses a text; available while the plugin is loaded"""
    return text[::-1]


async def greeting(name: Annotated[str, "The name to greet"] = "world") -> str:
    """Greets someone by name; available while the plugin is loaded"""
    return f"Say hello to {name}."


async def readme() -> str:
    """About the plugin; available while it is loaded"""
    return "# Plugin\n\nIt can be loaded and unloaded.\n"


class Plugin:
    """Loaded for all clients of a server at once, because they share its lists."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loaded = False
        server.tool(title="Load the Plugin", annotations=ADDS)(self.load_plugin)
        server.tool(title="Unload the Plugin", annotations=REMOVES)(self.unload_plugin)

    async def load_plugin(self, ctx: Context) -> str:
        """Adds a tool, a prompt and a resource, and notifies clients that the lists have changed"""
        if self._loaded:
            return "The plugin is already loaded"
        self._loaded = True
        self._server.tools.add(reverse, name=TOOL, title="Reverse")
        self._server.prompts.add(greeting, name=PROMPT, title="Greeting", version="1.0.0")
        self._server.resources.add(RESOURCE, readme, name=README, mime_type="text/markdown")
        for kind, name in PARTS.items():
            ctx.effect("create", name, kind=kind, reversible=True)
        return f"Loaded {TOOL}, {PROMPT} and {RESOURCE}"

    async def unload_plugin(self, ctx: Context) -> str:
        """Removes what `load_plugin` added, and notifies clients that the lists have changed"""
        if not self._loaded:
            return "The plugin is not loaded"
        self._loaded = False
        self._server.tools.remove(TOOL)
        self._server.prompts.remove(PROMPT)
        self._server.resources.remove(RESOURCE)
        for kind, name in PARTS.items():
            ctx.effect("delete", name, kind=kind, reversible=True)
        return f"Unloaded {TOOL}, {PROMPT} and {RESOURCE}"
