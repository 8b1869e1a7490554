"""No patience with a stream that ended."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "the client comes back without waiting", breaks="client-sse-retry-timing", honours_retry=False
)
