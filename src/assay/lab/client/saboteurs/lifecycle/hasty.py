"""A client that cannot wait."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_line
from assay.lab.harness.scripted_client.client import ScriptedClient

EARLY = b'{"jsonrpc":"2.0","id":"early","method":"tools/list"}\n'


@on_line("a request follows `initialize` at once", breaks="LIFE-05", scenario="tools_call")
def change(line: bytes, client: ScriptedClient) -> bytes:
    return line + EARLY if b'"initialize"' in line else line
