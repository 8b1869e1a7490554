"""A request without a version in its head."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "requests have no version header", breaks="sep-2575-http-client-sends-version-header", sends_version=False
)
