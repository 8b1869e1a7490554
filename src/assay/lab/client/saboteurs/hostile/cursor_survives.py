"""A cursor is used in a new session."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "a cursor of a lost session is used in the new one", breaks="PAG-07", forgets_cursors=False
)
