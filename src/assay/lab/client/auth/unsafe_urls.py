"""Authorization URLs that a client must not open, or not in a shell."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from assay.lab.client.canary import CANARY, open_canary
from assay.lab.client.declaration import client_scenario, in_force
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_call import LOOPBACK
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, altered, behaves, is_to, parameters
from .flow import Flow
from .protected_server import MAY_FAIL, WITH_RESOURCES, Protection, protect

PARAMETER: Final = "seen"
SUM: Final = "$((6*7))"
RESULT: Final = "42"


# --- what is asked


@client_scenario(
    "Name an authorization endpoint without TLS",
    script=MAY_FAIL,
    exercises=("auth.authorization-url",),
    transports=HTTP_ONLY,
    window=in_force("SEC-08"),
)
async def drive_authorization_url_in_clear(stage: ClientStage) -> None:
    url = f"http://0.0.0.0:{await open_canary(stage)}/authorize"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": url}}))


@client_scenario(
    "Name a javascript: URL as authorization endpoint",
    script=MAY_FAIL,
    exercises=("auth.authorization-url",),
    transports=HTTP_ONLY,
    window=in_force("SEC-08"),
)
async def drive_authorization_url_script(stage: ClientStage) -> None:
    url = f"javascript://localhost:{await open_canary(stage)}/authorize"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": url}}))


@client_scenario(
    "Name an authorization endpoint with a shell expression",
    script=MAY_FAIL,
    exercises=("auth.shell",),
    transports=HTTP_ONLY,
    window=WITH_RESOURCES,
)
async def drive_shell_in_address(stage: ClientStage) -> None:
    url = f"{{issuer}}/authorize?{PARAMETER}={SUM}"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": url}}))


# --- how it is judged


@check(
    "Only safe authorization URLs are opened",
    requirements={"SEC-08": "An authorization URL without TLS, or with another scheme, was opened"},
)
def judge_authorization_url(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for server in flow.servers:
        url = str(flow.metadata_of(server).get("authorization_endpoint") or "")
        if url and not is_safe(url):
            opened = [call for call in trace.calls if call.request.connection == CANARY]
            evidence = (*flow.documents_of(server)[:1], *opened[:1])
            expected = "no request to an authorization endpoint that is neither https nor local"
            observed = f"a request, although the metadata says {url}"
            yield observe("SEC-08", not opened, *evidence, expected=expected, observed=observed)


def is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        return False


@check(
    "URLs are not opened in a shell",
    requirements={"SEC-09": "A shell evaluated the authorization URL"},
    transports=HTTP_ONLY,
)
def judge_shell(trace: Trace) -> Iterator[Observation]:
    for request in Flow(trace).authorizations:
        value = str(request.params.get(PARAMETER) or "")
        # A client that appends its query with a second question mark is still safe.
        if value.startswith((SUM, RESULT)):
            expected, observed = f"{PARAMETER}={SUM}, as in the URL", f"{PARAMETER}={value}"
            yield observe("SEC-09", value.startswith(SUM), request, expected=expected, observed=observed)


# --- what the checks must catch


@on_request("opens URLs in a shell", breaks="SEC-09", scenario="auth.shell-in-address")
def opens_in_shell(request: Request, client: ScriptedClient) -> Request | None:
    if not is_to(request, AUTHORIZE):
        return request
    value = unquote(parameters(request)[PARAMETER])
    shell = subprocess.run(["sh", "-c", f'printf %s "{value}"'], capture_output=True, text=True, check=True)
    return altered(request, AUTHORIZE, **{PARAMETER: shell.stdout})


BEHAVIOURS: Final = (
    behaves(
        "auth.authorization-url-in-clear",
        "in-clear",
        "opens an authorization URL without TLS",
        "SEC-08",
        checks_addresses=False,
    ),
    behaves(
        "auth.authorization-url-script",
        "script-opened",
        "opens a javascript: URL",
        "SEC-08",
        checks_addresses=False,
        opens_as_http=True,
    ),
)
