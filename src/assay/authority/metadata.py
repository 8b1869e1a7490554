"""What an authority says about itself: the documents of RFC 8414 and of OpenID Connect Discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .description import GRANTS, METHODS
from .keys import ALGORITHMS
from .settings import SPECIAL_SCOPES

if TYPE_CHECKING:
    from .authority import Authority

FOR_DEVELOPMENT: Final = "assay_development_only"
OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"


def places(path: str) -> dict[str, str]:
    """Where clients look for which document, for an issuer with that path."""
    return {f"{OAUTH}{path}": "oauth", f"{OIDC}{path}": "oidc", f"{path}{OIDC}": "oidc"}


def metadata(authority: Authority) -> dict[str, Any]:
    """One document for both readers: neither minds what only the other needs."""
    settings, url = authority.settings, authority.settings.url
    document: dict[str, Any] = {
        "issuer": settings.issuer,
        "authorization_endpoint": url("/authorize"),
        "token_endpoint": url("/token"),
        "jwks_uri": url("/jwks"),
        "introspection_endpoint": url("/introspect"),
        "revocation_endpoint": url("/revoke"),
        "service_documentation": url("/"),
        "scopes_supported": [*settings.scopes, *SPECIAL_SCOPES],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [*GRANTS],
        "token_endpoint_auth_methods_supported": [*METHODS],
        "token_endpoint_auth_signing_alg_values_supported": [*ALGORITHMS],
        "introspection_endpoint_auth_methods_supported": [m for m in METHODS if m != "none"],
        "revocation_endpoint_auth_methods_supported": [*METHODS],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": settings.documents,
        "dpop_signing_alg_values_supported": [*ALGORITHMS],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [settings.algorithm],
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        FOR_DEVELOPMENT: True,
    }
    if settings.registration:
        document["registration_endpoint"] = url("/register")
    return authority.faults.spoil("metadata", document)
