"""A stream that ended is gone."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "nobody comes back for the answer", breaks="client-sse-graceful-reconnect", resumes=False
)
