"""A client for one kind of server."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "a server of the first transport is given up", breaks="SSE-06", tries_event_endpoint=False
)
