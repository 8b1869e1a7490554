"""How a client authenticates at the token endpoint (RFC 6749, 2.3; RFC 7523, 2.2)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote_plus

from assay.model.client_error import AuthorizationFailed

from .authorization_server import AuthorizationServer
from .effect import Environment, Signer
from .record import Registration

NONE: Final = "none"
BASIC: Final = "client_secret_basic"
POST: Final = "client_secret_post"
PRIVATE_KEY: Final = "private_key_jwt"
WITH_SECRET: Final = (BASIC, POST)
ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_SECONDS: Final = 120


def choose_method(server: AuthorizationServer, usable: Sequence[str]) -> str:
    """The first of our methods that the server supports.

    Raises:
        AuthorizationFailed: it supports none of them.
    """
    supported = server.token_endpoint_auth_methods_supported
    if supported is None:
        return usable[0]
    for method in usable:
        if method in supported:
            return method
    raise AuthorizationFailed(
        f"the authorization server {server.issuer} accepts {', '.join(supported)[:200] or 'no method'}"
        f" at its token endpoint, and this client can use {', '.join(usable)}"
    )


class Authentication:
    """Adds a client's credentials to a token request."""

    def __init__(
        self,
        registration: Registration,
        audience: str,
        environment: Environment,
        signer: Signer | None = None,
    ) -> None:
        self.registration = registration
        self._audience = audience
        self._environment = environment
        self._signer = signer

    def apply(self, form: dict[str, str], headers: dict[str, str]) -> None:
        registration, secret = self.registration, self.registration.client_secret
        if registration.client_id:
            form["client_id"] = registration.client_id  # some servers need it besides the header
        if registration.method == BASIC and secret is not None:
            # Both are encoded as in a form first (RFC 6749, 2.3.1).
            pair = f"{quote_plus(registration.client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        elif registration.method == PRIVATE_KEY and self._signer is not None:
            form["client_assertion_type"] = ASSERTION_TYPE
            form["client_assertion"] = self._assertion(self._signer)
        elif registration.method == POST and secret is not None:
            form["client_secret"] = secret

    def _assertion(self, signer: Signer) -> str:
        now = int(self._environment.now())
        name = self.registration.client_id
        claims = {
            "iss": name,
            "sub": name,
            "aud": self._audience,
            "iat": now,
            "exp": now + ASSERTION_SECONDS,
            "jti": self._environment.random(),
        }
        return signer.sign({"typ": "JWT"}, claims)
