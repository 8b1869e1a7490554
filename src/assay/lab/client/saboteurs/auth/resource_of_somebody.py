"""It takes metadata that is about another resource."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it takes metadata that is about another resource",
    breaks="resource-mismatch-rejected",
    scenario="auth/resource-mismatch",
    checks_resource=False,
)
