"""Faults that can be switched on by name, for whoever must notice them. Each acts in one place.

A fault of a document, a redirect or a token is a function that spoils it. A fault of a rule is asked for by
name where that rule is applied, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, NamedTuple, TypeVar

from .token import Unsigned

Value = TypeVar("Value")
Stage = Literal["metadata", "redirect", "token", "keys", "rule"]
ELSEWHERE: Final = "https://attacker.example"
INSIDE: Final = "http://10.0.0.1"
CLOUD: Final = "http://169.254.169.254/token"
"""On the host where machines in a cloud learn their own credentials; at this path there are none."""
DAY: Final = 86_400
HUGE: Final = 16 * 1024 * 1024


class Fault(NamedTuple):
    name: str
    stage: Stage
    about: str
    spoil: Callable[[Any], Any] | None = None


def _without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: {name: value for name, value in document.items() if name not in names}


def _with(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: {**document, **changes}


def _claims(**changes: Any) -> Callable[[Unsigned], Unsigned]:
    return lambda token: token.claiming(**changes)


def _headed(hand: str | None = None, **changes: Any) -> Callable[[Unsigned], Unsigned]:
    return lambda token: token.headed(**changes).signed_by(hand or token.hand)


def _moved(seconds: float, *names: str) -> Callable[[Unsigned], Unsigned]:
    """With its times moved; one that is not there counts from when it was issued."""
    return lambda token: token.claiming(
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
        "the documents do not say that answers of /authorize have an `iss`",
        _without("authorization_response_iss_parameter_supported"),
    ),
    Fault(
        "token-endpoint-inside",
        "metadata",
        "the documents have the token endpoint on the host of a cloud's credentials",
        _with(token_endpoint=CLOUD),
    ),
    Fault(
        "endpoints-inside",
        "metadata",
        "the documents have every endpoint inside a private network",
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
    Fault("missing-iss", "redirect", "answers of /authorize have no `iss`", _without("iss")),
    Fault("wrong-iss", "redirect", "answers of /authorize name another issuer", _with(iss=ELSEWHERE)),
    Fault(
        "iss-with-slash",
        "redirect",
        "answers of /authorize name the issuer with a slash appended",
        lambda answer: {**answer, "iss": f"{answer['iss']}/"},
    ),
    Fault("missing-state", "redirect", "answers of /authorize do not repeat `state`", _without("state")),
    Fault("wrong-state", "redirect", "answers of /authorize repeat another `state`", _with(state="other")),
    Fault("token-wrong-audience", "token", "tokens are for another resource", _claims(aud=ELSEWHERE)),
    Fault("token-without-audience", "token", "tokens have no `aud`", _claims(aud=None)),
    Fault("token-wrong-issuer", "token", "tokens name another issuer", _claims(iss=ELSEWHERE)),
    Fault("token-without-issuer", "token", "tokens have no `iss`", _claims(iss=None)),
    Fault("token-without-expiry", "token", "tokens have no `exp`", _claims(exp=None)),
    Fault("token-without-subject", "token", "tokens have no `sub`", _claims(sub=None)),
    Fault("token-without-scope", "token", "tokens have no `scope`", _claims(scope=None)),
    Fault("expired-token", "token", "tokens expired a day ago", _moved(-DAY, "iat", "exp")),
    Fault("future-token", "token", "tokens are valid from tomorrow on", _moved(DAY, "nbf", "exp")),
    Fault("token-issued-tomorrow", "token", "tokens were issued tomorrow", _moved(DAY, "iat", "exp")),
    Fault("alg-none", "token", "tokens are not signed: `alg` is `none`", _headed("nobody", alg="none")),
    Fault("no-signature", "token", "tokens have an honest header and no signature", _headed("nobody")),
    Fault(
        "hs256-with-public-key",
        "token",
        "tokens are signed by HMAC with the public key as its secret",
        _headed("public-as-secret", alg="HS256"),
    ),
    Fault("bad-signature", "token", "the signature is of other claims", _headed("other-claims")),
    Fault("stranger-key", "token", "another key signs, under the name of ours", _headed("stranger")),
    Fault(
        "unknown-kid", "token", "tokens name a key that is not published", _headed("stranger", kid="unknown")
    ),
    Fault("without-kid", "token", "tokens do not name their key", _headed(kid=None)),
    Fault("id-token-type", "token", "tokens say that they are of the type `JWT`", _headed(typ="JWT")),
    Fault(
        "critical-header",
        "token",
        "tokens have a critical header that nobody knows",
        _headed(crit=["x"], x=1),
    ),
    Fault("jwks-empty", "keys", "no key is published", _with(keys=[])),
    Fault("metadata-404-oauth", "rule", "there is no OAuth metadata, only OpenID Connect's"),
    Fault("metadata-404-oidc", "rule", "there is no OpenID Connect metadata, only OAuth's"),
    Fault(
        "metadata-only-appended",
        "rule",
        "there is no metadata but OpenID Connect's, below the issuer's own path",
    ),
    Fault("metadata-redirect", "rule", "the documents are on another host, by a redirect"),
    Fault("no-redirect-check", "rule", "any redirect address is taken"),
    Fault("no-pkce-check", "rule", "the code verifier is not looked at"),
    Fault("code-reuse", "rule", "a code can be used again and again"),
    Fault("no-refresh-rotation", "rule", "a refresh token stays good when it is used"),
    Fault("no-reuse-detection", "rule", "using an old refresh token does not revoke its family"),
    Fault("dpop-ignored", "rule", "tokens are not bound to the key of the proof"),
    Fault("cached-token", "rule", "answers of /token may be cached"),
    Fault("slow", "rule", "every answer takes long"),
)
FAULTS: Final = {fault.name: fault for fault in _TABLE}


class Faults:
    """The ones that are on."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """
        Raises:
            ValueError: there is no such fault.
        """
        self.names = frozenset(names)
        unknown = self.names - FAULTS.keys()
        if unknown:
            raise ValueError(f"unknown fault: {min(unknown)}; `assay authority --list-faults` shows them all")

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def spoil(self, stage: Stage, value: Value) -> Value:
        """Let the faults of a stage have it, in the order of the table."""
        for name, fault in FAULTS.items():
            if name in self.names and fault.stage == stage and fault.spoil is not None:
                value = fault.spoil(value)
        return value
