"""A message over several lines."""

from __future__ import annotations

import json

from assay.lab.harness.sabotage.client_saboteur import on_line
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_line("a call is written over several lines", breaks="STD-01", scenario="tools_call")
def change(line: bytes, client: ScriptedClient) -> bytes:
    if b'"tools/call"' not in line:
        return line
    return json.dumps(json.loads(line), indent=1).encode() + b"\n"
