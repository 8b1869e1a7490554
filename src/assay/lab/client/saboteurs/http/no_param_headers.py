"""Marks that are not read."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("marked arguments are not repeated in headers", breaks="XH-01", mirrors=False)
