"""A client whose process dies."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, ClientSaboteur

saboteur = ClientSaboteur(
    "contract.dies",
    "it dies by a signal",
    "CLIENT-02",
    transports=EVERY,
    command=("sh", "-c", "kill -SEGV $$"),
)
