"""Official check ids that every authorization scenario has: the steps on the way to a token, PKCE, and the
token that is shown."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from assay.lab.client.evidence import fail_unobserved
from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.verdict import Evidence

from .flow import Journey, Stop, bearer, path_in, path_of

PRM, METADATA = "prm-pathbased-requested", "authorization-server-metadata"
REGISTRATION, AUTHORIZATION, TOKEN = "client-registration", "authorization-request", "token-request"
CHALLENGE, METHOD = "pkce-code-challenge-sent", "pkce-s256-method-used"
VERIFIER, MATCH = "pkce-code-verifier-sent", "pkce-verifier-matches-challenge"
VALID, INVALID = "valid-bearer-token", "invalid-bearer-token"
APPLICATION = "sep-837-application-type-present"
SHARED: Final = (
    *(PRM, METADATA, REGISTRATION, AUTHORIZATION, TOKEN),
    *(CHALLENGE, METHOD, VERIFIER, MATCH),
    *(VALID, INVALID, APPLICATION),
)
WHOLE: Final = (METADATA, REGISTRATION, AUTHORIZATION, TOKEN)
"""The steps of a client that finds everything by itself and registers."""
_WANTED: Final = {
    PRM: "a request for the metadata of the resource, where it is",
    METADATA: "a request for the metadata of the authorization server, where it is",
    REGISTRATION: "a request to the registration endpoint",
    AUTHORIZATION: "a request to the authorization endpoint",
    TOKEN: "a request to the token endpoint",
}


def walked(
    trace: Trace,
    own: Iterable[Observation] = (),
    *,
    owed: Iterable[str] = (),
    wanted: Mapping[str, str] | None = None,
) -> Iterator[Observation]:
    """What is seen of the shared ids and of a scenario's own. Those that are owed are broken where nothing is
    seen of them, and those in `wanted`, which says what was to be seen."""
    words = {row: _WANTED[row] for row in owed} | dict(wanted or {})
    yield from fail_unobserved(trace, [*_seen(Journey(trace)), *own], words)


def _seen(journey: Journey) -> Iterator[Observation]:
    yield from _steps(journey)
    yield from _proofs(journey)
    yield from _tokens(journey)
    for stop in journey.registrations:
        said = stop.said.get("application_type")
        wanted = "application_type native or web"
        yield observe(APPLICATION, said in ("native", "web"), stop, expected=wanted, observed=repr(said))


def _steps(journey: Journey) -> Iterator[Observation]:
    metadata = {path_of(spot.metadata) for spot in journey.spots if spot.metadata}
    documents = {(spot.room, path_of(url)) for spot in journey.spots for url in spot.documents}
    taken: Mapping[str, Iterable[Evidence]] = {
        PRM: [call for call in journey.resource_documents if path_in(call) in metadata],
        METADATA: [
            call for call in journey.server_documents if (call.request.connection, path_in(call)) in documents
        ],
        REGISTRATION: journey.registrations,
        AUTHORIZATION: journey.authorizations,
        TOKEN: journey.exchanges,
    }
    for row, evidence in taken.items():
        for one in evidence:
            yield observe(row, True, one, expected="", observed="")


def _proofs(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        said = stop.said
        yield observe(
            CHALLENGE, bool(said.get("code_challenge")), stop, expected="a code_challenge", observed="none"
        )
        method = said.get("code_challenge_method")
        yield observe(METHOD, method == "S256", stop, expected="the method S256", observed=f"{method!r}")
    for stop in journey.exchanges:
        if stop.said.get("grant_type") == "authorization_code":
            yield from _proved(journey, stop)


def _proved(journey: Journey, stop: Stop) -> Iterator[Observation]:
    verifier = stop.said.get("code_verifier") or ""
    yield observe(VERIFIER, bool(verifier), stop, expected="a code_verifier", observed="none")
    asked = asked_for(journey, stop)
    wanted = "" if asked is None else asked.said.get("code_challenge") or ""
    yield observe(
        MATCH,
        bool(verifier) and challenge_of(verifier) == wanted,
        *([] if asked is None else [asked]),
        stop,
        expected=f"a verifier whose SHA-256 is the challenge {wanted!r}",
        observed=f"{challenge_of(verifier)!r}" if verifier else "no verifier",
    )


def asked_for(journey: Journey, stop: Stop) -> Stop | None:
    """The authorization request that a token request goes on from: the one that was answered with its code,
    else the last one before it at that server."""
    asked = [one for one in journey.authorizations if one.n < stop.n and one.spot.room == stop.spot.room]
    code = stop.said.get("code")
    answered = [one for one in asked if code is not None and one.answered.get("code") == code]
    return (answered or asked)[-1] if asked else None


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _tokens(journey: Journey) -> Iterator[Observation]:
    given = min((stop.n for stop in journey.tokens.values()), default=None)
    later = [] if given is None else [call for call in journey.visits if call.request.n > given]
    if later:
        shown = [call for call in later if bearer(call) in journey.tokens]
        expected = "a token that was given, in a later request to the endpoint"
        yield observe(VALID, bool(shown), *(shown or later)[:1], expected=expected, observed="none has one")
    for call in journey.visits:
        if token := bearer(call):
            known = token in journey.tokens
            expected = "a token that the authorization server gave out"
            yield observe(INVALID, known, call, expected=expected, observed=f"{token[:12]}…")
