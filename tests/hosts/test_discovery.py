"""Servers that applications have configured, without their secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.hosts.discovery import HIDDEN, Configured, discover, masked, without_secrets
from assay.hosts.entry import Entry, Local, Remote
from assay.hosts.host import HOSTS

SECRET = "sk-4f9a8b7c6d5e4f3a2b1c0d9e8f"


def test_servers_of_all_files_are_listed(tmp_path: Path) -> None:
    zed, cursor, broken = tmp_path / "zed.json", tmp_path / "cursor.json", tmp_path / "broken.json"
    zed.write_text(
        '{"context_servers": {"old": {"command": {"path": "x", "args": ["y"], "env": {"A": "b"}}}}}'
    )
    cursor.write_text(json.dumps({"mcpServers": {"url": {"url": "http://x"}, "odd": 1, "none": {}}}))
    broken.write_text("{")
    files = {"zed": [zed, tmp_path / "missing.json"], "cursor": [cursor, broken]}
    assert list(discover(HOSTS, files)) == [
        Configured("zed", zed, "old", Local(("x", "y"), {"A": "b"})),
        Configured("cursor", cursor, "url", Remote("http://x")),
        Configured("cursor", cursor, "odd", None, "the entry is not an object"),
        Configured("cursor", cursor, "none", None, "the entry has neither a command nor a URL"),
        Configured(
            "cursor",
            broken,
            "",
            None,
            f"{broken} is not valid JSON: line 1: a text in quotes is missing or not closed, at the end",
        ),
    ]


@pytest.mark.parametrize(
    "entry",
    [
        Local(("npx", "server", "--api-key", SECRET)),
        Local(("npx", "server", f"--token={SECRET}")),
        Local(("npx", "server", SECRET)),
        Local(("npx", "-y", "mcp-remote", f"https://x/{SECRET}/mcp", "--header", f"Authorization: {SECRET}")),
        Local(("npx", "server"), {"NAME": SECRET}),
        Remote(f"https://user:{SECRET}@example.com/mcp"),
        Remote(f"https://example.com/mcp?key={SECRET}&a=b"),
        Remote(f"https://example.com/{SECRET}/mcp"),
        Remote("https://example.com/mcp", {"X": SECRET}),
    ],
    ids=str,
)
def test_secrets_are_masked(entry: Entry) -> None:
    shown = repr(masked(entry))
    assert SECRET not in shown
    assert HIDDEN in shown
    words = entry.words if isinstance(entry, Local) else (entry.url,)
    assert SECRET not in without_secrets(f"{' '.join(words)} ended", entry)


def test_what_is_no_secret_is_shown() -> None:
    entry = Local(
        ("/usr/lib/python3.11/bin/python", "-m", "assay", "serve", "/home/user/project-2026/server.py")
    )
    assert masked(entry) == entry
