"""It calls its assertion something else."""

from __future__ import annotations

from assay.lab.client.authorization.altering import TOKEN, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it calls its assertion something else",
    breaks="client-credentials-assertion-type",
    scenario="auth/client-credentials-jwt",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(
        request, TOKEN, client_assertion_type="urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
    )
