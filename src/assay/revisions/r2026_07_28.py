"""No handshake, no sessions, no requests from server to client. Every request declares its client,
questions to the client are results that it answers by a retry, and changes are sent on listen streams."""

from __future__ import annotations

from types import MappingProxyType

from assay.model.error import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)

from .r2025_11_25 import REVISION as PREDECESSOR
from .revision import Asking, HttpRules, Opening, Results, Structured, TaskForm

REVISION = PREDECESSOR.successor(
    "2026-07-28",
    opening=Opening.PER_REQUEST,
    asking=Asking.BY_RETRY,
    structured=Structured.ANY,
    results=Results.TYPED,
    resource_not_found=INVALID_PARAMS,
    missing_capability=MISSING_CAPABILITY,
    logs_on_demand=True,
    elicitation_ids=False,
    tasks=TaskForm.EXTENSION,
    cacheable=frozenset(
        {
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "resources/read",
        }
    ),
    http=HttpRules(
        sessions=False,
        resumable=False,
        disconnect_cancels=True,
        mirrored=MappingProxyType({"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}),
        statuses=MappingProxyType(
            {
                PARSE_ERROR: 400,
                INVALID_REQUEST: 400,
                HEADER_MISMATCH: 400,
                MISSING_CAPABILITY: 400,
                UNSUPPORTED_VERSION: 400,
                METHOD_NOT_FOUND: 404,
            }
        ),
    ),
    added={"requests": {"server/discover", "subscriptions/listen"}, "capabilities": {"extensions"}},
    removed={
        "requests": {
            "initialize",
            "ping",
            "logging/setLevel",
            "resources/subscribe",
            "resources/unsubscribe",
        },
        "experimental": {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"},
        "notifications": {
            "notifications/initialized",
            "notifications/progress",
            "notifications/roots/list_changed",
        },
    },
)
