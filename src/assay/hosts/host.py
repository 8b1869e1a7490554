"""The applications, as a table: where each keeps its servers, and how it writes one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from .entry import Entry, Local


class Places(NamedTuple):
    """Where an application keeps its settings. `~` is the home directory, `$` that of applications."""

    linux: str
    mac: str
    windows: str

    def path(self, home: Path, applications: Path, platform: str = sys.platform) -> Path:
        text = {"darwin": self.mac, "win32": self.windows}.get(platform, self.linux)
        first, _, rest = text.partition("/")
        return {"~": home, "$": applications}.get(first, Path(first)) / rest


def plain(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Local):
        settings: dict[str, Any] = {"command": entry.words[0], "args": list(entry.words[1:])}
        return settings | ({"env": dict(entry.env)} if entry.env else {})
    return {"url": entry.url} | ({"headers": dict(entry.headers)} if entry.headers else {})


class Host(NamedTuple):
    title: str
    key: str
    """The member of the file that holds the servers."""
    places: Places
    """The file of the user."""
    restart: str
    """What makes the application read the file again."""
    project: str = ""
    """The file in the directory of a project; empty if the application has none."""
    to_settings: Callable[[Entry], dict[str, Any]] = plain


def _typed(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio" if isinstance(entry, Local) else "http", **plain(entry)}


def _with_server_url(entry: Entry) -> dict[str, Any]:
    settings = plain(entry)
    return {"serverUrl" if name == "url" else name: value for name, value in settings.items()}


def _bridged(entry: Entry) -> dict[str, Any]:
    """For an application whose file has commands only: `mcp-remote` turns a URL into stdio."""
    if isinstance(entry, Local):
        return plain(entry)
    headers = [word for name, value in entry.headers.items() for word in ("--header", f"{name}: {value}")]
    return plain(Local(("npx", "-y", "mcp-remote", entry.url, *headers)))


HOSTS: Final[Mapping[str, Host]] = {
    "claude-desktop": Host(
        "Claude Desktop",
        "mcpServers",
        Places(
            "~/.config/Claude/claude_desktop_config.json",
            "~/Library/Application Support/Claude/claude_desktop_config.json",
            "$/Claude/claude_desktop_config.json",
        ),
        "quit Claude Desktop, from its menu, and start it again",
        to_settings=_bridged,
    ),
    "claude-code": Host(
        "Claude Code",
        "mcpServers",
        Places(*(["~/.claude.json"] * 3)),
        "start a new session of Claude Code",
        ".mcp.json",
        _typed,
    ),
    "cursor": Host(
        "Cursor",
        "mcpServers",
        Places(*(["~/.cursor/mcp.json"] * 3)),
        "enable the server in the MCP settings of Cursor",
        ".cursor/mcp.json",
    ),
    "vscode": Host(
        "VS Code",
        "servers",
        Places(
            "~/.config/Code/User/mcp.json",
            "~/Library/Application Support/Code/User/mcp.json",
            "$/Code/User/mcp.json",
        ),
        "start the server above its entry in mcp.json, or with the command MCP: List Servers",
        ".vscode/mcp.json",
        _typed,
    ),
    "windsurf": Host(
        "Windsurf",
        "mcpServers",
        Places(*(["~/.codeium/windsurf/mcp_config.json"] * 3)),
        "refresh the MCP servers in the Cascade panel",
        to_settings=_with_server_url,
    ),
    "zed": Host(
        "Zed",
        "context_servers",
        Places("~/.config/zed/settings.json", "~/.config/zed/settings.json", "$/Zed/settings.json"),
        "nothing: Zed reads the file again by itself",
        ".zed/settings.json",
    ),
}


def applications() -> Path:
    """The directory of applications' settings on Windows; elsewhere unused."""
    return Path(os.environ.get("APPDATA", "") or Path.home() / "AppData" / "Roaming")
