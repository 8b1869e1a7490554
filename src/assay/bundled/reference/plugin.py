"""A plugin that comes and goes: a tool, a prompt and a resource, each announced by its list."""

from __future__ import annotations

from typing import Annotated, Final

from assay import Server

TOOL: Final = "plugin_reverse"
PROMPT: Final = "plugin_greeting"
RESOURCE: Final = "file:///plugin/readme.md"


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
        server.tool(title="Load the Plugin", annotations={"idempotentHint": True})(self.load_plugin)
        server.tool(title="Unload the Plugin", annotations={"idempotentHint": True})(self.unload_plugin)

    async def load_plugin(self) -> str:
        """Adds a tool, a prompt and a resource, and tells clients that the lists have changed"""
        if self._loaded:
            return "The plugin is loaded already"
        self._loaded = True
        self._server.tools.add(reverse, name=TOOL, title="Reverse")
        self._server.prompts.add(greeting, name=PROMPT, title="Greeting")
        self._server.resources.add(RESOURCE, readme, name="readme.md", mime_type="text/markdown")
        return f"Loaded {TOOL}, {PROMPT} and {RESOURCE}"

    async def unload_plugin(self) -> str:
        """Removes what `load_plugin` added, and tells clients that the lists have changed"""
        if not self._loaded:
            return "The plugin is not loaded"
        self._loaded = False
        self._server.tools.remove(TOOL)
        self._server.prompts.remove(PROMPT)
        self._server.resources.remove(RESOURCE)
        return f"Unloaded {TOOL}, {PROMPT} and {RESOURCE}"
