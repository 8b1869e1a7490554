"""Faults that can be switched on by name, to test the software that must detect them. Each acts in one place.

A fault of a document, a redirect, a token or the keys is a function that changes it. A fault of a rule is
looked up by name where the rule applies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, NamedTuple, TypeVar

from .token import UnsignedToken

Value = TypeVar("Value")
Stage = Literal["metadata", "redirect", "token", "keys", "rule"]
ELSEWHERE: Final = "https://attacker.example"
INSIDE: Final = "http://10.0.0.1"
CLOUD: Final = "http://169.254.169.254/token"
"""The host of cloud instance credentials, at a path that holds none."""
DAY: Final = 86_400
HUGE: Final = 16 * 1024 * 1024


class Fault(NamedTuple):
    name: str
    stage: Stage
    about: str
    apply: Callable[[Any], Any] | None = None


def _without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: {name: value for name, value in document.items() if name not in names}


def _with(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: {**document, **changes}


def _claims(**changes: Any) -> Callable[[UnsignedToken], UnsignedToken]:
    return lambda token: token.with_claims(**changes)


def _header(signer: str | None = None, **changes: Any) -> Callable[[UnsignedToken], UnsignedToken]:
    return lambda token: token.with_header(**changes).signed_by(signer or token.signer)


def _shifted(seconds: float, *names: str) -> Callable[[UnsignedToken], UnsignedToken]:
    """Shift these times; a missing one counts from `iat`."""
    return lambda token: token.with_claims(
        **{name: token.claims.get(name, token.claims["iat"]) + seconds for name in names}
    )


_TABLE: Final = (
    Fault("issuer-mismatch", "metadata", "the documents name another issuer", _with(issuer=ELSEWHERE)),
    Fault(
        "metadata-without-pkce",
        "metadata",
        "the documents do not say that PKCE is supported",
        _without("code_challenge_methods_supported"),
    ),
    Fault(
        "metadata-plain-pkce",
        "metadata",
        "the documents offer only the method `plain`",
        _with(code_challenge_methods_supported=["plain"]),
    ),
    Fault(
        "metadata-without-documents",
        "metadata",
        "the documents do not offer client id metadata documents",
        _without("client_id_metadata_document_supported"),
    ),
    Fault(
        "metadata-without-registration",
        "metadata",
        "the documents have no registration endpoint",
        _without("registration_endpoint"),
    ),
    Fault(
        "metadata-without-iss",
        "metadata",
        "the documents do not announce the `iss` parameter of /authorize",
        _without("authorization_response_iss_parameter_supported"),
    ),
    Fault(
        "token-endpoint-inside",
        "metadata",
        "the documents place the token endpoint on the host of cloud instance credentials",
        _with(token_endpoint=CLOUD),
    ),
    Fault(
        "endpoints-inside",
        "metadata",
        "the documents place every endpoint in a private network",
        _with(
            authorization_endpoint=f"{INSIDE}/authorize",
            token_endpoint=f"{INSIDE}/token",
            registration_endpoint=f"{INSIDE}/register",
            jwks_uri=f"{INSIDE}/jwks",
        ),
    ),
    Fault(
        "authorization-endpoint-script",
        "metadata",
        "the documents have a script as authorization endpoint",
        _with(authorization_endpoint="javascript:alert(1)"),
    ),
    Fault(
        "metadata-huge",
        "metadata",
        f"the documents have {HUGE} bytes of padding",
        lambda document: {**document, "padding": "x" * HUGE},
    ),
    Fault("missing-iss", "redirect", "redirects from /authorize have no `iss`", _without("iss")),
    Fault("wrong-iss", "redirect", "redirects from /authorize name another issuer", _with(iss=ELSEWHERE)),
    Fault(
        "iss-with-slash",
        "redirect",
        "redirects from /authorize name the issuer with a slash appended",
        lambda answer: {**answer, "iss": f"{answer['iss']}/"},
    ),
    Fault("missing-state", "redirect", "redirects from /authorize omit `state`", _without("state")),
    Fault(
        "wrong-state", "redirect", "redirects from /authorize return another `state`", _with(state="other")
    ),
    Fault("token-wrong-audience", "token", "tokens are for another resource", _claims(aud=ELSEWHERE)),
    Fault("token-without-audience", "token", "tokens have no `aud`", _claims(aud=None)),
    Fault("token-wrong-issuer", "token", "tokens name another issuer", _claims(iss=ELSEWHERE)),
    Fault("token-without-issuer", "token", "tokens have no `iss`", _claims(iss=None)),
    Fault("token-without-expiry", "token", "tokens have no `exp`", _claims(exp=None)),
    Fault("token-without-subject", "token", "tokens have no `sub`", _claims(sub=None)),
    Fault("token-without-scope", "token", "tokens have no `scope`", _claims(scope=None)),
    Fault("expired-token", "token", "tokens expired a day ago", _shifted(-DAY, "iat", "exp")),
    Fault("future-token", "token", "tokens are valid from tomorrow on", _shifted(DAY, "nbf", "exp")),
    Fault("token-issued-tomorrow", "token", "tokens were issued tomorrow", _shifted(DAY, "iat", "exp")),
    Fault("alg-none", "token", "tokens are not signed: `alg` is `none`", _header("none", alg="none")),
    Fault("no-signature", "token", "tokens have an unchanged header and no signature", _header("none")),
    Fault(
        "hs256-with-public-key",
        "token",
        "tokens are signed with HMAC, with the public key as the secret",
        _header("public-as-secret", alg="HS256"),
    ),
    Fault("bad-signature", "token", "the signature covers other claims", _header("other-claims")),
    Fault("stranger-key", "token", "another key signs, under the published key id", _header("stranger")),
    Fault("unknown-kid", "token", "tokens name an unpublished key", _header("stranger", kid="unknown")),
    Fault("without-kid", "token", "tokens have no `kid`", _header(kid=None)),
    Fault("id-token-type", "token", "tokens have the type `JWT`", _header(typ="JWT")),
    Fault(
        "critical-header",
        "token",
        "tokens have an unknown critical header",
        _header(crit=["x"], x=1),
    ),
    Fault("jwks-empty", "keys", "no key is published", _with(keys=[])),
    Fault("metadata-404-oauth", "rule", "only OpenID Connect metadata is served"),
    Fault("metadata-404-oidc", "rule", "only OAuth metadata is served"),
    Fault(
        "metadata-only-appended",
        "rule",
        "the only metadata is OpenID Connect's, appended to the issuer's path",
    ),
    Fault("metadata-redirect", "rule", "metadata requests are redirected to another host"),
    Fault("no-redirect-check", "rule", "any redirect URI is accepted"),
    Fault("no-pkce-check", "rule", "the code verifier is not checked"),
    Fault("code-reuse", "rule", "a code can be used repeatedly"),
    Fault("no-refresh-rotation", "rule", "a refresh token stays valid after use"),
    Fault("no-reuse-detection", "rule", "reuse of an old refresh token does not revoke the grant"),
    Fault("dpop-ignored", "rule", "tokens are not bound to the key of the proof"),
    Fault("cached-token", "rule", "responses of /token may be cached"),
    Fault("slow", "rule", "every response is slow"),
)
FAULTS: Final = {fault.name: fault for fault in _TABLE}


class Faults:
    """The faults that are switched on."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """
        Raises:
            ValueError: A fault is unknown.
        """
        self.names = frozenset(names)
        unknown = self.names - FAULTS.keys()
        if unknown:
            raise ValueError(f"unknown fault: {min(unknown)}; `assay authority --list-faults` shows them all")

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def apply(self, stage: Stage, value: Value) -> Value:
        """Apply the faults of a stage, in the order of the table."""
        for name, fault in FAULTS.items():
            if name in self.names and fault.stage == stage and fault.apply is not None:
                value = fault.apply(value)
        return value
