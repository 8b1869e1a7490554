"""The workload shows a token for another authorization server."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "the workload shows a token for another authorization server",
    breaks="wif-assertion-audience",
    scenario="auth/wif-jwt-bearer",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(request, TOKEN, assertion=guest.context["wrong_audience_jwt"])
