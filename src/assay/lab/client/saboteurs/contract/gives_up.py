"""A client that ends before it has begun."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, ClientSaboteur

saboteur = ClientSaboteur(
    "contract.gives-up",
    "it exits with status 3 and never connects",
    "CLIENT-03",
    transports=EVERY,
    command=("sh", "-c", "echo no such thing >&2; exit 3"),
)
