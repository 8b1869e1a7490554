"""When a progress notification was sent: a request asks for it, to measure latencies."""

from typing import Final

TIMED: Final = "dev.assay/timed"
"""In the `_meta` of a request: true if its progress notifications are to state their times."""
SENT_AT: Final = "dev.assay/sentAtNs"
"""In the `_meta` of a notification: nanoseconds of the monotonic clock of the server's machine."""
