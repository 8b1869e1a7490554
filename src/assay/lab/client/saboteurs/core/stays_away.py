"""A stream that ended is gone."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "nobody comes back for the answer", breaks="client-sse-graceful-reconnect", resumes=False
)
