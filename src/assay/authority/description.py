"""What a client says about itself (RFC 7591), when it registers or in a document at its own address."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, UnsetType, field

from .record import EVERY_GRANT, METHODS
from .refusal import Refused
from .settings import LOOPBACK, SCOPE, Bounds, Settings

# A scheme of a program's own has a dot, being a domain name in reverse (RFC 8252, 7.1). Many have none.
NOT_FOR_REDIRECTS: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "about", "blob", "ftp", "ws", "wss"}
)
HOST: Final = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?")
"""With its port. `urlsplit` finds the host of `evil.example\\[::1]` in the brackets, browsers before them."""
ANY_PORT: Final = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?((?:[/?].*)?)")
LONG: Final = 2000
SHORT: Final = 200


class Description(Struct, kw_only=True):
    """Members that mean something here; others are ignored."""

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


def bad_description(reason: str) -> Refused:
    return Refused("invalid_client_metadata", reason)


def settle(said: Description, settings: Settings) -> None:
    """Replace what others offer and this authority does not (RFC 7591, 3.2.1)."""
    wanted = said.token_endpoint_auth_method or "client_secret_basic"
    elsewhere = wanted in METHODS and wanted not in settings.methods
    said.token_endpoint_auth_method = settings.methods[0] if elsewhere else wanted
    said.grant_types = [
        name for name in said.grant_types if name in settings.grants or name not in EVERY_GRANT
    ]


def check_description(said: Description, settings: Settings) -> None:
    """
    Raises:
        Refused: no client can be like that, or not here.
    """
    _check_sizes(said, settings.bounds)
    unknown = set(said.grant_types) - set(settings.grants)
    if unknown or not said.grant_types:
        raise bad_description(f"grant_types must be of {', '.join(settings.grants)}")
    if said.response_types is not UNSET and set(said.response_types) - {"code"}:
        raise bad_description("response_types can only be code")
    if said.token_endpoint_auth_method not in settings.methods:
        raise bad_description(f"token_endpoint_auth_method must be one of {', '.join(settings.methods)}")
    if said.application_type not in (None, "native", "web"):
        raise bad_description("application_type must be native or web")
    if said.token_endpoint_auth_method == "private_key_jwt" and (said.jwks is None) == (
        said.jwks_uri is None
    ):
        raise bad_description("private_key_jwt needs either jwks or jwks_uri")
    if "client_credentials" in said.grant_types and said.token_endpoint_auth_method == "none":
        raise bad_description("client_credentials needs a client that can authenticate")
    _check_redirects(said)


def _check_sizes(said: Description, bounds: Bounds) -> None:
    keys = said.jwks.get("keys", ()) if said.jwks else ()
    lists = (
        said.redirect_uris,
        said.grant_types,
        scopes_of(said) or (),
        keys if isinstance(keys, list) else (),
    )
    if any(len(items) > bounds.items for items in lists):
        raise bad_description(f"no list may have more than {bounds.items} members")
    texts = (*said.redirect_uris, said.jwks_uri or "")
    if any(len(text) > LONG for text in texts) or len(said.client_name) > SHORT:
        raise bad_description("an address or the name is too long")


def scopes_of(said: Description) -> tuple[str, ...] | None:
    if said.scope is None:
        return None
    scopes = tuple(dict.fromkeys(said.scope.split()))
    if not all(SCOPE.fullmatch(scope) for scope in scopes):
        raise bad_description("scope holds something that is no scope")
    return scopes


def _check_redirects(said: Description) -> None:
    if "authorization_code" in said.grant_types and not said.redirect_uris:
        raise Refused("invalid_redirect_uri", "redirect_uris is missing")
    for number, address in enumerate(said.redirect_uris, 1):
        problem = redirect_problem(address, said.application_type)
        if problem:
            raise Refused("invalid_redirect_uri", f"redirect_uris, number {number}: {problem}")


def redirect_problem(address: str, application_type: str | None = None) -> str | None:
    """What is wrong with a redirect address, if anything: https, this machine, or a program's own scheme."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return "not a URL"
    if not parts.scheme or "#" in address or re.search(r"[^\x21-\x7e]|[\\\"<>]", address):
        return "must be an absolute URL without a fragment"
    if parts.username is not None:
        return "must not name a user"
    if parts.scheme in ("http", "https"):
        written = HOST.fullmatch(parts.netloc.lower()) is not None
        return _web_problem(parts.scheme, host if written else None, application_type)
    if parts.scheme in NOT_FOR_REDIRECTS or application_type == "web":
        return "must be https"
    return None


def _web_problem(scheme: str, host: str | None, application_type: str | None) -> str | None:
    if not host:
        return "has no host"
    if scheme == "http" and host not in LOOPBACK:
        return "http is for this machine only: use https"
    if application_type == "web" and host in LOOPBACK:
        return "a web application is not on the user's machine: application_type native"
    return None


def same_redirect(given: str, registered: str) -> bool:
    """Exactly equal; but a program on the user's machine cannot know its port beforehand (RFC 8252, 7.3)."""
    if given == registered:
        return True
    ours, theirs = ANY_PORT.fullmatch(registered), ANY_PORT.fullmatch(given)
    if ours is None or theirs is None or redirect_problem(given) is not None:
        return False
    return ours.groups() == theirs.groups()
