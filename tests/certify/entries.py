"""Registry entries for tests."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from assay.certify.registry.entry import SCHEMA
from assay.lab.harness.subject.registry_entry import PROFILE, PUBLISHER
from assay.revisions.registry import REVISIONS

HASH = "0f" * 32
DIGEST = f"sha256:{HASH}"
OTHER = "sha256:" + "f0" * 32

ENTRY: dict[str, Any] = {
    "$schema": SCHEMA,
    "name": "com.example/notes",
    "description": "Notes that can be read and written",
    "version": "1.2.0",
    "title": "Notes",
    "websiteUrl": "https://example.com/notes",
    "repository": {"url": "https://example.com/notes.git", "source": "github", "subfolder": "src"},
    "icons": [{"src": "https://example.com/i.png", "sizes": ["48x48", "any"], "mimeType": "image/png"}],
    "packages": [
        {
            "registryType": "pypi",
            "identifier": "notes",
            "version": "1.2.0",
            "fileSha256": HASH,
            "transport": {"type": "stdio"},
            "runtimeHint": "uvx",
            "packageArguments": [
                {"type": "positional", "valueHint": "folder"},
                {
                    "type": "named",
                    "name": "--port",
                    "value": "{port}",
                    "variables": {"port": {"default": "1"}},
                },
            ],
            "environmentVariables": [{"name": "KEY", "isSecret": True, "format": "string"}],
        }
    ],
    "remotes": [
        {"type": "streamable-http", "url": "https://example.com/mcp", "headers": [{"name": "X-Key"}]}
    ],
    "_meta": {
        PUBLISHER: {
            PROFILE: {
                "id": "intelgraph/2025-10",
                "transports": ["stdio", "streamable-http"],
                "protocolVersions": [revision.date for revision in REVISIONS],
                "streaming": {"sse": True, "heartbeatSec": 15, "resume": [REVISIONS[-2].date]},
                "jsonrpc": {"batch": False},
                "capabilities": {
                    "tools": {"n": 3, "sha256": HASH},
                    "resources": {"n": 1, "sha256": HASH},
                    "prompts": {
                        "n": 1,
                        "sha256": HASH,
                        "versions": {"review": "1.2.0"},
                        "digests": {"review": DIGEST},
                    },
                },
                "auth": {"modes": ["jwt", "mtls"], "scopes": ["read", "write"]},
            }
        }
    },
}
BLOCK = f"_meta|{PUBLISHER}|{PROFILE}"
"""The path to the profile's block, separated by bars."""
GONE = object()


def edited(changes: dict[str, Any], entry: dict[str, Any] = ENTRY) -> dict[str, Any]:
    """A copy with other values at some paths; `GONE` removes one."""
    copy = deepcopy(entry)
    for way, value in changes.items():
        *parts, last = [int(part) if part.isdecimal() else part for part in way.split("|")]
        at: Any = copy
        for part in parts:
            at = at[part]
        if value is GONE:
            del at[last]
        else:
            at[last] = value
    return copy
