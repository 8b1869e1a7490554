"""A capability that is no object."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "elicitation is declared with text",
    breaks="sep-2575-client-declares-elicitation-capability",
    transports=EVERY,
    declares={"elicitation": "form"},
)
