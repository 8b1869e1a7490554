"""A client that forgot where it was."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "the last event is not named", breaks="HTTP-34", scenario="streams.resumed", names_last_event=False
)
