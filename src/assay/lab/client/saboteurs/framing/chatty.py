"""Remarks between messages."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_line
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_line("a remark is written before each message", breaks="STD-03", scenario="tools_call")
def change(line: bytes, client: ScriptedClient) -> bytes:
    return b"sending a message\n" + line
