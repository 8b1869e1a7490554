"""A skill is believed."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "the digest of a file is not compared",
    breaks="sep-2640-host-verify-digest",
    transports=EVERY,
    verifies_digest=False,
)
