"""A skill may call itself what it likes."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "frontmatter is not compared",
    breaks="sep-2640-host-frontmatter-comparison",
    transports=EVERY,
    verifies_frontmatter=False,
)
