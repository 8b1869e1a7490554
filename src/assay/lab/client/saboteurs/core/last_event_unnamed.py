"""Nobody knows what was missed."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "the client comes back without its last event", breaks="client-sse-last-event-id", names_last_event=False
)
