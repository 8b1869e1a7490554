"""Authorization URLs that a client must not open or pass to a shell."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from assay.lab.client.canary import CANARY, open_canary
from assay.lab.client.declaration import client_scenario, in_force
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_call import LOOPBACK
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, altered, goes_to, parameters
from .flow import Journey
from .protected_server import IN_VAIN, RESOURCES, Protection, protect

NAME: Final = "seen"
SUM: Final = "$((6*7))"
RESULT: Final = "42"


# --- what is asked


@client_scenario(
    "An authorization endpoint without TLS",
    script=IN_VAIN,
    exercises=("auth.authorization-url",),
    transports=HTTP_ONLY,
    window=in_force("SEC-08"),
)
async def drive_authorization_url_in_clear(stage: ClientStage) -> None:
    address = f"http://0.0.0.0:{await open_canary(stage)}/authorize"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": address}}))


@client_scenario(
    "A script as authorization endpoint",
    script=IN_VAIN,
    exercises=("auth.authorization-url",),
    transports=HTTP_ONLY,
    window=in_force("SEC-08"),
)
async def drive_authorization_url_script(stage: ClientStage) -> None:
    address = f"javascript://localhost:{await open_canary(stage)}/authorize"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": address}}))


@client_scenario(
    "Something for a shell in the address",
    script=IN_VAIN,
    exercises=("auth.shell",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive_shell_in_address(stage: ClientStage) -> None:
    address = f"{{issuer}}/authorize?{NAME}={SUM}"
    await protect(stage, Protection(settings={"metadata": {"authorization_endpoint": address}}))


# --- how it is judged


ROW = "SEC-08"
WANTED: Final = "no request to an authorization endpoint that is neither https nor on the loopback"


@check("Only safe authorization addresses are opened", requirements=(ROW,))
def judge_authorization_url(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        address = str(journey.metadata_of(spot).get("authorization_endpoint") or "")
        if address and not is_safe(address):
            opened = [call for call in trace.calls if call.request.connection == CANARY]
            read = journey.documents_of(spot)[:1]
            observed = f"a request, although the metadata says {address}"
            yield observe(ROW, not opened, *read, *opened[:1], expected=WANTED, observed=observed)


def is_safe(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        return False


SHELL_ROW = "SEC-09"


@check("Addresses are not opened through a shell", requirements=(SHELL_ROW,), transports=HTTP_ONLY)
def judge_shell(trace: Trace) -> Iterator[Observation]:
    for stop in Journey(trace).authorizations:
        came = str(stop.said.get(NAME) or "")
        # A client that puts its own query behind with a second question mark is no less safe.
        if came.startswith((SUM, RESULT)):
            expected = f"{NAME}={SUM}, as in the address"
            yield observe(SHELL_ROW, came.startswith(SUM), stop, expected=expected, observed=f"{NAME}={came}")


# --- what the checks must catch


@on_request("it has a shell open addresses", breaks="SEC-09", scenario="auth.shell-in-address")
def opens_in_shell(request: Request, client: ScriptedClient) -> Request | None:
    if not goes_to(request, AUTHORIZE):
        return request
    word = unquote(parameters(request)[NAME])
    read = subprocess.run(["sh", "-c", f'printf %s "{word}"'], capture_output=True, text=True, check=True)
    return altered(request, AUTHORIZE, **{NAME: read.stdout})


BEHAVIOURS: Final = (
    behaviour(
        "auth.in-clear",
        "it opens an authorization address without TLS",
        breaks="SEC-08",
        scenario="auth.authorization-url-in-clear",
        checks_addresses=False,
    ),
    behaviour(
        "auth.script-opened",
        "it opens an authorization address that is a script",
        breaks="SEC-08",
        scenario="auth.authorization-url-script",
        checks_addresses=False,
        opens_as_http=True,
    ),
)
