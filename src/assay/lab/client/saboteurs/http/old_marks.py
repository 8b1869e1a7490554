"""Marks that are not read again."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("headers that do not fit are not mended", breaks="XH-20", refreshes_headers=False)
