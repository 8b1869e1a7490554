"""Who the client is at an authorization server, and how it proves that."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from assay.lab.harness.sabotage.saboteur import Json

from .failure import Failed
from .oauth_discovery import Server, read_json
from .web import Web

if TYPE_CHECKING:
    from .client import ScriptedClient

DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"
"""The address of the guest's metadata document, as the contract has it."""
CALLBACK: Final = "http://127.0.0.1:3000/callback"
"""Nobody listens there: the client reads where it is sent, and does not go."""
BASIC, POST, NONE = "client_secret_basic", "client_secret_post", "none"
PREFERRED: Final = (BASIC, POST, NONE)


class Identity(Struct, frozen=True):
    id: str
    secret: str = ""
    method: str = NONE
    """How it authenticates at the token endpoint."""

    def prove(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """The form of a token request, and headers beside it."""
        if self.method == BASIC:
            pair = f"{quote_plus(self.id)}:{quote_plus(self.secret)}"
            return form, {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        proof = {"client_secret": self.secret} if self.method == POST else {}
        return {**form, "client_id": self.id, **proof}, {}


async def identify(client: ScriptedClient, server: Server) -> Identity:
    """In the order that the specification gives: what it was given, its document, registration.

    Raises:
        Failed: there is no way to be known there.
    """
    behaviour, context = client.behaviour, client.context
    if "client_id" in context and behaviour.uses_given_id:
        secret = str(context.get("client_secret", ""))
        return Identity(str(context["client_id"]), secret, method_for(server, secret))
    supported = server.metadata.get("client_id_metadata_document_supported") is True
    if behaviour.uses_document and (supported or not behaviour.checks_documents):
        return Identity(DOCUMENT)
    if not behaviour.registers:
        return Identity("made-up-by-the-guest")
    return await register(client, server)


def method_for(server: Server, secret: str) -> str:
    """The best of those that the server takes."""
    taken = server.says("token_endpoint_auth_methods_supported") or [BASIC]
    able = PREFERRED if secret else (NONE,)
    return next((one for one in able if one in taken), able[0])


async def register(client: ScriptedClient, server: Server) -> Identity:
    url = server.url("registration_endpoint")
    body = msgspec.json.encode(description(server))
    response = await Web(client).fetch("POST", url, [("Content-Type", "application/json")], body)
    told = read_json(response.body)
    name, secret = told.get("client_id"), str(told.get("client_secret", ""))
    if response.status != 201 and not client.behaviour.honours_refusal:
        return Identity("undefined")
    if response.status != 201 or not isinstance(name, str):
        raise Failed(f"registration was refused: HTTP status {response.status} {told.get('error', '')}")
    given = told.get("token_endpoint_auth_method")
    return Identity(name, secret, given if given in PREFERRED else method_for(server, secret))


def description(server: Server) -> Json:
    taken = server.says("token_endpoint_auth_methods_supported") or [NONE]
    return {
        "client_name": "the lab's guest",
        "redirect_uris": [CALLBACK],
        "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": next((one for one in PREFERRED if one in taken), NONE),
    }
