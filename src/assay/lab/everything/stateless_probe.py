"""What the scenario server-stateless tries, by the names that its check knows it by."""

from __future__ import annotations

from typing import Final

NO_VERSION: Final = "v999.0.0"
"""A version that nobody speaks."""
NEEDS_SAMPLING: Final = "test_missing_capability"
ASKS: Final = "test_streaming_elicitation"
LOGS: Final = "test_logging_tool"
UNASKED_LOG: Final = "unasked log"
"""The probe of a call that asks for no log messages."""
UNKNOWN: Final = "unknown/method"
RETIRED: Final = {
    "initialize": "initialize",
    "ping": "ping",
    "logging/setLevel": "logging-setlevel",
    "resources/subscribe": "resources-subscribe",
    "resources/unsubscribe": "resources-unsubscribe",
}
"""Methods of earlier revisions, each with its name in a check's id."""
