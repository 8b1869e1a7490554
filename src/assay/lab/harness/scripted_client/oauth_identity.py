"""The client's identity at an authorization server, and its authentication."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from assay.lab.harness.sabotage.saboteur import Json

from .failure import StepFailed
from .oauth_discovery import AuthorizationServer, read_json
from .web import WebClient

if TYPE_CHECKING:
    from .client import ScriptedClient

DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"
"""The client id metadata document that the conformance contract defines."""
CALLBACK: Final = "http://127.0.0.1:3000/callback"
"""Never opened: the client reads the parameters of the redirect and does not follow it."""
BASIC, POST, NONE = "client_secret_basic", "client_secret_post", "none"
PREFERRED: Final = (BASIC, POST, NONE)


class ClientIdentity(Struct, frozen=True):
    id: str
    secret: str = ""
    method: str = NONE
    """The authentication method at the token endpoint."""

    def prove(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """The form and the headers of an authenticated token request."""
        if self.method == BASIC:
            pair = f"{quote_plus(self.id)}:{quote_plus(self.secret)}"
            return form, {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        proof = {"client_secret": self.secret} if self.method == POST else {}
        return {**form, "client_id": self.id, **proof}, {}


async def identify(client: ScriptedClient, server: AuthorizationServer) -> ClientIdentity:
    """In the order of the specification: a pre-registered id, a metadata document, registration.

    Raises:
        StepFailed: none of these is possible.
    """
    behaviour, context = client.behaviour, client.context
    if "client_id" in context and behaviour.uses_context_id:
        secret = str(context.get("client_secret", ""))
        return ClientIdentity(str(context["client_id"]), secret, _method_for(server, secret))
    supported = server.metadata.get("client_id_metadata_document_supported") is True
    if behaviour.uses_document and (supported or not behaviour.checks_documents):
        return ClientIdentity(DOCUMENT)
    if not behaviour.registers:
        return ClientIdentity("invented-client-id")
    return await _register(client, server)


def _method_for(server: AuthorizationServer, secret: str) -> str:
    """The preferred authentication method among those that the server supports."""
    supported = server.listed("token_endpoint_auth_methods_supported") or [BASIC]
    able = PREFERRED if secret else (NONE,)
    return next((method for method in able if method in supported), able[0])


async def _register(client: ScriptedClient, server: AuthorizationServer) -> ClientIdentity:
    url = server.url("registration_endpoint")
    body = msgspec.json.encode(_client_metadata(server))
    response = await WebClient(client).fetch("POST", url, [("Content-Type", "application/json")], body)
    answer = read_json(response.body)
    name, secret = answer.get("client_id"), str(answer.get("client_secret", ""))
    if response.status != 201 and not client.behaviour.honours_refusal:
        return ClientIdentity("undefined")
    if response.status != 201 or not isinstance(name, str):
        raise StepFailed(f"registration was refused: HTTP status {response.status} {answer.get('error', '')}")
    method = answer.get("token_endpoint_auth_method")
    return ClientIdentity(name, secret, method if method in PREFERRED else _method_for(server, secret))


def _client_metadata(server: AuthorizationServer) -> Json:
    supported = server.listed("token_endpoint_auth_methods_supported") or [NONE]
    return {
        "client_name": "Assay lab client",
        "redirect_uris": [CALLBACK],
        "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": next((method for method in PREFERRED if method in supported), NONE),
    }
