"""What faults in spans are made of: a server that exports them, and attributes, as OTLP/JSON writes them."""

from __future__ import annotations

from functools import partial
from typing import Final

from assay.lab.harness.sabotage import saboteur
from assay.lab.harness.sabotage.saboteur import Json

SERVER: Final = "reference --profile intelgraph --telemetry {otlp}"
"""No other fault is tried before it: spans of their conversations would hide the few that are looked at."""

on_span = partial(saboteur.on_span, server=SERVER)


def without(span: Json, name: str) -> Json:
    kept = [one for one in span.get("attributes", []) if one["key"] != name]
    return {**span, "attributes": kept}


def having(span: Json, name: str, value: str) -> Json:
    """With another value, where it has one."""
    changed = [
        {"key": name, "value": {"stringValue": value}} if one["key"] == name else one
        for one in span.get("attributes", [])
    ]
    return {**span, "attributes": changed}


def has(span: Json, name: str, value: str) -> bool:
    return {"key": name, "value": {"stringValue": value}} in span.get("attributes", [])
