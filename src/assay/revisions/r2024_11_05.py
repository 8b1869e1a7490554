"""The first revision: handshake, tools, resources, prompts, sampling, roots.

Its HTTP transport was HTTP+SSE with two endpoints. Clients that negotiate it over Streamable HTTP are
served by the rules of its successor.
"""

from __future__ import annotations

from .revision import Revision

REVISION = Revision(
    date="2024-11-05",
    content=frozenset({"text", "image", "resource"}),
    capabilities=frozenset({"experimental", "logging", "prompts", "resources", "tools"}),
    requests=frozenset(
        {
            "initialize",
            "ping",
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "completion/complete",
            "logging/setLevel",
        }
    ),
    notifications=frozenset(
        {
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/roots/list_changed",
        }
    ),
)
