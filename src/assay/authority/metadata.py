"""The authority's metadata (RFC 8414 and OpenID Connect Discovery)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .faults import Faults
from .keys import ALGORITHMS
from .record import METHODS
from .settings import SPECIAL_SCOPES

if TYPE_CHECKING:
    from .authority import Authority

FOR_DEVELOPMENT: Final = "assay_development_only"
OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"


# The documents that a fault hides.
HIDING: Final = {
    "metadata-404-oauth": {"oauth"},
    "metadata-404-oidc": {"oidc", "appended"},
    "metadata-only-appended": {"oauth", "oidc"},
}


def places(path: str, faults: Faults) -> set[str]:
    """The paths of the metadata, for an issuer with this path."""
    kinds = {f"{OAUTH}{path}": "oauth", f"{OIDC}{path}": "oidc", f"{path}{OIDC}": "appended"}
    hidden = set[str]().union(*(kinds for fault, kinds in HIDING.items() if fault in faults))
    return {place for place, kind in kinds.items() if kind not in hidden}


def metadata(authority: Authority) -> dict[str, Any]:
    """One document for both specifications, which ignore each other's members."""
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
        "grant_types_supported": [*settings.grants],
        "token_endpoint_auth_methods_supported": [*settings.methods],
        "token_endpoint_auth_signing_alg_values_supported": [*ALGORITHMS],
        "introspection_endpoint_auth_methods_supported": [m for m in METHODS if m != "none"],
        "revocation_endpoint_auth_methods_supported": [*settings.methods],
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
    published = {
        name: value for name, value in {**document, **settings.metadata}.items() if value is not None
    }
    return authority.faults.apply("metadata", published)
