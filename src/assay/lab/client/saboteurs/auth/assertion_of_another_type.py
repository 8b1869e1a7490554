"""It calls its assertion something else."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.client_saboteur import on_request
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Request


@on_request(
    "it calls its assertion something else",
    breaks="client-credentials-assertion-type",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, guest: Guest) -> Request | None:
    return altered(
        request, TOKEN, client_assertion_type="urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
    )
