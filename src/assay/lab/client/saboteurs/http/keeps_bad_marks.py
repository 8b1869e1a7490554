"""Marks that are not checked."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("tools with bad marks are kept", breaks="XH-08", drops_badly_marked=False)
