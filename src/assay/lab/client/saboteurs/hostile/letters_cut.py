"""Letters that are cut in two are taken for two."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("letters of several bytes that come in pieces are lost", breaks="HOSTILE-08")
def change(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("result",), _torn)


def _torn(result: Json) -> Json:
    if "tools" not in result:
        return result
    return {**result, "tools": [within(one, ("inputSchema",), _mangled) for one in result["tools"]]}


def _mangled(schema: Json) -> Json:
    title = str(schema.get("title", ""))
    return {**schema, "title": title.encode().decode("latin-1")}
