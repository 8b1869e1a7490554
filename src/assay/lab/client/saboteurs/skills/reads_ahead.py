"""Skills are read before anybody wants them."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "files of skills are read as soon as they are listed",
    breaks="sep-2640-host-no-prefetch",
    transports=EVERY,
    prefetches_skills=True,
)
