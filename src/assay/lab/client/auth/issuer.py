"""Clients verify the issuer of metadata and of authorization responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from assay.lab.client.declaration import in_force
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.check import Check
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, behaviour, on_request
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Call

from .altered_request import TOKEN, behaves, is_to
from .flow import AuthorizationServer, AuthRequest, Flow, content
from .official_step import AUTHORIZATION, SHARED, observe_steps
from .protected_server import (
    CODE_FLOW_CHECKS,
    LIST_AND_CALL,
    MAY_FAIL,
    OAUTH_ONLY,
    Protection,
    protected_scenario,
)

# --- what is asked


def _iss_scenario(name: str, title: str, *faults: str, accepts: bool = False) -> Scenario:
    """A scenario in which the client should accept the answer, or reject it."""
    return protected_scenario(
        f"auth/iss-{name}",
        title,
        Protection(faults=(*faults, *OAUTH_ONLY)),
        script=LIST_AND_CALL if accepts else MAY_FAIL,
        exercises=CODE_FLOW_CHECKS if accepts else ("auth.issuer-of-answer",),
        window=in_force("AU-52"),
    )


UNANNOUNCED: Final = "metadata-without-iss"
SCENARIOS: Final = (
    _iss_scenario("supported", "Return the right `iss` with the code", accepts=True),
    _iss_scenario(
        "not-advertised", "Return no `iss`, and announce none", UNANNOUNCED, "missing-iss", accepts=True
    ),
    _iss_scenario("supported-missing", "Announce `iss`, and return none", "missing-iss"),
    _iss_scenario("unexpected", "Return a wrong `iss`, and announce none", UNANNOUNCED, "wrong-iss"),
    _iss_scenario("wrong-issuer", "Return a wrong `iss` with the code", "wrong-iss"),
    _iss_scenario("normalized", "Return an `iss` that differs by a slash", "iss-with-slash"),
    protected_scenario(
        "auth/metadata-issuer-mismatch",
        "Serve metadata with another issuer",
        Protection(settings={"endpoints": "/mismatched-as"}, faults=("issuer-mismatch", *OAUTH_ONLY)),
        script=MAY_FAIL,
        exercises=("auth.issuer-of-metadata",),
        window=in_force("AU-26"),
    ),
)


# --- how it is judged


class Redirect(Struct, frozen=True):
    """An authorization request that was answered with a redirect."""

    request: AuthRequest
    params: dict[str, str]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.request.frames

    @property
    def issuer(self) -> str | None:
        return self.params.get("iss")

    def redeemed(self, flow: Flow) -> list[AuthRequest]:
        """The token requests with its code, at any server."""
        code = self.params.get("code")
        return [request for request in flow.token_requests if code and request.params.get("code") == code]


def _redirects(flow: Flow) -> Iterator[Redirect]:
    for request in flow.authorizations:
        location = None if request.call.head is None else request.call.head.get("location")
        if location is not None and request.call.status in (302, 303):
            yield Redirect(request, _query(location))


def _query(location: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))
    except ValueError:
        return {}


def _rejected(trace: Trace, requirement: str) -> Iterator[Observation]:
    """For scenarios in which the client must not use the code."""
    flow = Flow(trace)
    own = [_unused(requirement, redirect, flow) for redirect in _redirects(flow)]
    yield from observe_steps(trace, own, expected={requirement: "an authorization request"})


def _unused(requirement: str, redirect: Redirect, flow: Flow) -> Observation:
    redeemed = redirect.redeemed(flow)
    expected = "no token request with the code of this answer"
    observed = f"a token request, although iss was {redirect.issuer!r} from {redirect.request.server.issuer}"
    return observe(requirement, not redeemed, redirect, *redeemed, expected=expected, observed=observed)


def _accepted(trace: Trace, requirement: str) -> Iterator[Observation]:
    """For scenarios in which the client must use the code; one answer is enough."""
    flow = Flow(trace)
    redirects = list(_redirects(flow))
    redeemed = [request for redirect in redirects for request in redirect.redeemed(flow)]
    expected, observed = "a token request with the code of the answer", "no such request"
    own = [observe(requirement, bool(redeemed), *redirects, *redeemed, expected=expected, observed=observed)]
    steps = (AUTHORIZATION,)
    yield from observe_steps(trace, own if redirects else (), steps=steps, expected={requirement: expected})


COMPARED, PROCEEDS, MISSING, UNADVERTISED, AS_IS = (
    f"sep-2468-client-{rule}"
    for rule in (
        "compare-iss-supported",
        "proceed-no-iss",
        "reject-missing-iss",
        "compare-iss-unadvertised",
        "no-normalization",
    )
)


def _iss_check(
    name: str, title: str, judge: Callable[[Trace, str], Iterator[Observation]], requirement: str, fault: str
) -> Check:
    return official_check(f"auth/iss-{name}", title, requirements={requirement: fault, **SHARED})(
        lambda trace: judge(trace, requirement)
    )


CHECKS: Final = (
    _iss_check(
        "supported",
        "An answer with the right `iss` is accepted",
        _accepted,
        COMPARED,
        "An answer with the right `iss` was rejected",
    ),
    _iss_check(
        "not-advertised",
        "An answer without `iss` is accepted where none was announced",
        _accepted,
        PROCEEDS,
        "An answer without `iss` was rejected, though none was announced",
    ),
    _iss_check(
        "supported-missing",
        "An answer without the announced `iss` is rejected",
        _rejected,
        MISSING,
        "An answer without the announced `iss` was accepted",
    ),
    _iss_check(
        "unexpected",
        "An answer with a wrong `iss` is rejected, even if none was announced",
        _rejected,
        UNADVERTISED,
        "An answer with a wrong, unannounced `iss` was accepted",
    ),
    _iss_check(
        "wrong-issuer",
        "An answer with a wrong `iss` is rejected",
        _rejected,
        COMPARED,
        "An answer with a wrong `iss` was accepted",
    ),
    _iss_check(
        "normalized",
        "Issuers are compared as they are",
        _rejected,
        AS_IS,
        "An `iss` that differs by a slash was accepted",
    ),
)
FOREIGN_METADATA: Final = "sep-2468-client-validate-metadata-issuer"


@official_check(
    "auth/metadata-issuer-mismatch",
    "Metadata with another issuer is rejected",
    requirements={FOREIGN_METADATA: "Metadata with another issuer was used", **SHARED},
)
def judge_metadata_issuer_mismatch(trace: Trace) -> Iterator[Observation]:
    expected = {FOREIGN_METADATA: "a request for the metadata, and no use of its endpoints"}
    yield from observe_steps(trace, _uses(Flow(trace), FOREIGN_METADATA), expected=expected)


@check(
    "Metadata with another issuer is not used",
    requirements={"AU-26": "Metadata with another issuer was used"},
)
def judge_issuer_of_metadata(trace: Trace) -> Iterator[Observation]:
    yield from _uses(Flow(trace), "AU-26")


def _uses(flow: Flow, requirement: str) -> Iterator[Observation]:
    """An observation for each server whose metadata has another issuer and was read."""
    for server in flow.servers:
        read = [call for call in flow.documents_of(server) if _has_other_issuer(call, server)]
        if read:
            requests = [request for request in flow.requests if request.server == server]
            uses = [request for request in requests if request.n > read[0].request.n]
            paths = ", ".join(sorted({request.call.sent.target.partition("?")[0] for request in uses}))
            issuer = content(read[0]).get("issuer")
            expected = "no use of the endpoints in this metadata"
            observed = f"issuer {issuer!r}, not {server.issuer!r}, and requests to {paths}"
            yield observe(requirement, not uses, read[0], *uses[:3], expected=expected, observed=observed)


def _has_other_issuer(call: Call, server: AuthorizationServer) -> bool:
    document = content(call)
    return call.status == 200 and bool(document) and document.get("issuer") != server.issuer


@check(
    "An authorization answer with another `iss` is rejected",
    requirements={
        "AU-52": "An answer with a wrong `iss` was accepted",
        "AU-53": "An answer without the announced `iss` was accepted",
        "AU-54": "An `iss` that is equal only after normalization was accepted",
    },
)
def judge_issuer_of_answer(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for redirect in _redirects(flow):
        requirement = _violation(redirect, flow)
        if requirement is not None:
            yield _unused(requirement, redirect, flow)


def _violation(redirect: Redirect, flow: Flow) -> str | None:
    """The requirement that forbids accepting the answer; `None` if it is right or no metadata was read."""
    metadata, issuer = flow.metadata_of(redirect.request.server), redirect.request.server.issuer
    if redirect.issuer is None:
        announced = metadata.get("authorization_response_iss_parameter_supported") is True
        return "AU-53" if announced else None
    if redirect.issuer == issuer or not metadata:
        return None
    return "AU-54" if redirect.issuer.rstrip("/") == issuer.rstrip("/") else "AU-52"


# --- what the checks must catch


@on_request("rejects an answer with the right `iss`", breaks=COMPARED, scenario="auth/iss-supported")
def right_issuer_refused(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, TOKEN) else request


@on_request(
    "rejects an answer without `iss` although none was announced",
    breaks=PROCEEDS,
    scenario="auth/iss-not-advertised",
)
def issuer_insisted_on(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, TOKEN) else request


def _iss_client(scenario: str, name: str, fault: str, breaks: str, **fields: Any) -> ClientSaboteur:
    return behaves(f"auth/iss-{scenario}", name, fault, breaks, **fields)


BEHAVIOURS: Final = (
    _iss_client(
        "supported-missing", "issuer-not-missed", "accepts an answer without `iss`", MISSING, needs_iss=False
    ),
    _iss_client(
        "unexpected", "any-issuer-unannounced", "accepts any `iss`", UNADVERTISED, compares_iss=False
    ),
    _iss_client("wrong-issuer", "any-issuer-announced", "accepts any `iss`", COMPARED, compares_iss=False),
    _iss_client("normalized", "slash-forgiven", "ignores a slash in `iss`", AS_IS, normalizes_iss=True),
    behaves(
        "auth/metadata-issuer-mismatch",
        "foreign-metadata",
        "uses metadata with another issuer",
        FOREIGN_METADATA,
        compares_issuer=False,
    ),
    behaviour("auth.any-issuer", "accepts an answer with a wrong `iss`", breaks="AU-52", compares_iss=False),
    behaviour("auth.issuer-unsaid", "accepts an answer without `iss`", breaks="AU-53", needs_iss=False),
    behaviour("auth.issuer-made-alike", "compares normalized issuers", breaks="AU-54", normalizes_iss=True),
    behaviour(
        "auth.metadata-of-anybody", "uses metadata of another issuer", breaks="AU-26", compares_issuer=False
    ),
)
