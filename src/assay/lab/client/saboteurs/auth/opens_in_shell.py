"""It has a shell open addresses."""

from __future__ import annotations

import subprocess
from urllib.parse import unquote

from assay.lab.client.authorization.altering import AUTHORIZE, altered, goes_to, parameters
from assay.lab.client.authorization.shell import NAME
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it has a shell open addresses", breaks="SEC-09", scenario="auth.shell-in-address")
def change(request: Request, client: ScriptedClient) -> Request | None:
    if not goes_to(request, AUTHORIZE):
        return request
    word = unquote(parameters(request)[NAME])
    read = subprocess.run(["sh", "-c", f'printf %s "{word}"'], capture_output=True, text=True, check=True)
    return altered(request, AUTHORIZE, **{NAME: read.stdout})
