"""Client metadata (RFC 7591), from a registration or from a document at the client's URL."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, UnsetType, field

from .error import OAuthError
from .record import EVERY_GRANT, METHODS
from .settings import LOOPBACK, SCOPE, Bounds, Settings

# Private schemes should be reversed domain names (RFC 8252, 7.1), but many have no dot; so refuse known
# others.
NOT_FOR_REDIRECTS: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "about", "blob", "ftp", "ws", "wss"}
)
HOST: Final = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?")
"""A host and port. `urlsplit` reads the host of `evil.example\\[::1]` from the brackets; browsers do not."""
ANY_PORT: Final = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?((?:[/?].*)?)")
LONG: Final = 2000
SHORT: Final = 200


class ClientMetadata(Struct, kw_only=True):
    """The members that are used here; others are ignored."""

    client_id: str | None = None
    client_name: str = ""
    redirect_uris: list[str] = []
    token_endpoint_auth_method: str | None = None
    grant_types: list[str] = field(default_factory=lambda: ["authorization_code"])
    response_types: list[str] | UnsetType = UNSET
    application_type: str | None = None
    scope: str | None = None
    jwks: dict[str, Any] | None = None
    jwks_uri: str | None = None
    dpop_bound_access_tokens: bool = False


def invalid_metadata(reason: str) -> OAuthError:
    return OAuthError("invalid_client_metadata", reason)


def replace_unsupported(metadata: ClientMetadata, settings: Settings) -> None:
    """Replace known values that this authority does not offer (RFC 7591, 3.2.1)."""
    method = metadata.token_endpoint_auth_method or "client_secret_basic"
    unsupported = method in METHODS and method not in settings.methods
    metadata.token_endpoint_auth_method = settings.methods[0] if unsupported else method
    metadata.grant_types = [
        name for name in metadata.grant_types if name in settings.grants or name not in EVERY_GRANT
    ]


def check_client_metadata(metadata: ClientMetadata, settings: Settings) -> None:
    """
    Raises:
        OAuthError: The metadata is invalid, or asks for something that is not offered.
    """
    _check_sizes(metadata, settings.bounds)
    unknown = set(metadata.grant_types) - set(settings.grants)
    if unknown or not metadata.grant_types:
        raise invalid_metadata(f"grant_types must be some of {', '.join(settings.grants)}")
    if metadata.response_types is not UNSET and set(metadata.response_types) - {"code"}:
        raise invalid_metadata("response_types can only be code")
    if metadata.token_endpoint_auth_method not in settings.methods:
        raise invalid_metadata(f"token_endpoint_auth_method must be one of {', '.join(settings.methods)}")
    if metadata.application_type not in (None, "native", "web"):
        raise invalid_metadata("application_type must be native or web")
    if metadata.token_endpoint_auth_method == "private_key_jwt" and (metadata.jwks is None) == (
        metadata.jwks_uri is None
    ):
        raise invalid_metadata("private_key_jwt requires either jwks or jwks_uri")
    if "client_credentials" in metadata.grant_types and metadata.token_endpoint_auth_method == "none":
        raise invalid_metadata("client_credentials requires a client that can authenticate")
    _check_redirects(metadata)


def _check_sizes(metadata: ClientMetadata, bounds: Bounds) -> None:
    keys = metadata.jwks.get("keys", ()) if metadata.jwks else ()
    lists = (
        metadata.redirect_uris,
        metadata.grant_types,
        scopes_of(metadata) or (),
        keys if isinstance(keys, list) else (),
    )
    if any(len(items) > bounds.items for items in lists):
        raise invalid_metadata(f"no list may have more than {bounds.items} members")
    texts = (*metadata.redirect_uris, metadata.jwks_uri or "")
    if any(len(text) > LONG for text in texts) or len(metadata.client_name) > SHORT:
        raise invalid_metadata("a URL or the name is too long")


def scopes_of(metadata: ClientMetadata) -> tuple[str, ...] | None:
    if metadata.scope is None:
        return None
    scopes = tuple(dict.fromkeys(metadata.scope.split()))
    if not all(SCOPE.fullmatch(scope) for scope in scopes):
        raise invalid_metadata("scope holds an invalid scope")
    return scopes


def _check_redirects(metadata: ClientMetadata) -> None:
    if "authorization_code" in metadata.grant_types and not metadata.redirect_uris:
        raise OAuthError("invalid_redirect_uri", "redirect_uris is missing")
    for number, uri in enumerate(metadata.redirect_uris, 1):
        problem = redirect_problem(uri, metadata.application_type)
        if problem:
            raise OAuthError("invalid_redirect_uri", f"redirect_uris, number {number}: {problem}")


def redirect_problem(uri: str, application_type: str | None = None) -> str | None:
    """Why a redirect URI is refused; `None` for https, http on this machine, and private schemes."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return "not a URL"
    if not parts.scheme or "#" in uri or re.search(r"[^\x21-\x7e]|[\\\"<>]", uri):
        return "must be an absolute URL without a fragment"
    if parts.username is not None:
        return "must not name a user"
    if parts.scheme in ("http", "https"):
        unambiguous = HOST.fullmatch(parts.netloc.lower()) is not None
        return _web_problem(parts.scheme, host if unambiguous else None, application_type)
    if parts.scheme in NOT_FOR_REDIRECTS or application_type == "web":
        return "must be https"
    return None


def _web_problem(scheme: str, host: str | None, application_type: str | None) -> str | None:
    if not host:
        return "has no host"
    if scheme == "http" and host not in LOOPBACK:
        return "http is for this machine only: use https"
    if application_type == "web" and host in LOOPBACK:
        return "a web application cannot be on the user's machine: use application_type native"
    return None


def same_redirect(requested: str, registered: str) -> bool:
    """Exact comparison (RFC 9700, 2.1), except for the port of a loopback address, which native applications
    choose at run time (RFC 8252, 7.3)."""
    if requested == registered:
        return True
    ours, theirs = ANY_PORT.fullmatch(registered), ANY_PORT.fullmatch(requested)
    if ours is None or theirs is None or redirect_problem(requested) is not None:
        return False
    return ours.groups() == theirs.groups()
