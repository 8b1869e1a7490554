"""A plugin that comes and goes: a tool, a prompt and a resource, each announced by its list."""

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


async def reverse(text: Annotated[str, "What to turn round"]) -> str:
    """Turns a text round; there only while the plugin is loaded"""
    return text[::-1]


async def greeting(name: Annotated[str, "Whom to greet"] = "world") -> str:
    """Greets somebody; there only while the plugin is loaded"""
    return f"Say hello to {name}."


async def readme() -> str:
    """What the plugin is for; there only while it is loaded"""
    return "# Plugin\n\nIt comes and goes.\n"


class Plugin:
    """Loaded for all clients of one server at once: a list is the same for everybody."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loaded = False
        server.tool(title="Load the Plugin", annotations=ADDS)(self.load_plugin)
        server.tool(title="Unload the Plugin", annotations=REMOVES)(self.unload_plugin)

    async def load_plugin(self, ctx: Context) -> str:
        """Adds a tool, a prompt and a resource, and tells clients that the lists have changed"""
        if self._loaded:
            return "The plugin is loaded already"
        self._loaded = True
        self._server.tools.add(reverse, name=TOOL, title="Reverse")
        self._server.prompts.add(greeting, name=PROMPT, title="Greeting", version="1.0.0")
        self._server.resources.add(RESOURCE, readme, name=README, mime_type="text/markdown")
        for kind, name in PARTS.items():
            ctx.effect("create", name, kind=kind, reversible=True)
        return f"Loaded {TOOL}, {PROMPT} and {RESOURCE}"

    async def unload_plugin(self, ctx: Context) -> str:
        """Removes what `load_plugin` added, and tells clients that the lists have changed"""
        if not self._loaded:
            return "The plugin is not loaded"
        self._loaded = False
        self._server.tools.remove(TOOL)
        self._server.prompts.remove(PROMPT)
        self._server.resources.remove(RESOURCE)
        for kind, name in PARTS.items():
            ctx.effect("delete", name, kind=kind, reversible=True)
        return f"Unloaded {TOOL}, {PROMPT} and {RESOURCE}"
