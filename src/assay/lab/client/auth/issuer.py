"""Clients verify the issuer of metadata and of authorization responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from assay.lab.client.declaration import in_force, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Call

from .altered_request import TOKEN, is_to
from .flow import AuthorizationServer, AuthRequest, Flow, content
from .official_step import AUTHORIZATION, SHARED, observe_steps
from .protected_server import CODE_FLOW_CHECKS, LIST_AND_CALL, MAY_FAIL, OAUTH_ONLY, Protection, protect

# --- what is asked


@official_scenario(
    "auth/iss-supported",
    "Return the right `iss` with the code",
    script=LIST_AND_CALL,
    exercises=CODE_FLOW_CHECKS,
    window=in_force("AU-52"),
)
async def drive_iss_supported(stage: ClientStage) -> None:
    await protect(stage)


@official_scenario(
    "auth/iss-not-advertised",
    "Return no `iss`, and announce none",
    script=LIST_AND_CALL,
    exercises=CODE_FLOW_CHECKS,
    window=in_force("AU-52"),
)
async def drive_iss_not_advertised(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-iss", "missing-iss", *OAUTH_ONLY)))


@official_scenario(
    "auth/iss-supported-missing",
    "Announce `iss`, and return none",
    script=MAY_FAIL,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_supported_missing(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("missing-iss", *OAUTH_ONLY)))


@official_scenario(
    "auth/iss-unexpected",
    "Return a wrong `iss`, and announce none",
    script=MAY_FAIL,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_unexpected(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-iss", "wrong-iss", *OAUTH_ONLY)))


@official_scenario(
    "auth/iss-wrong-issuer",
    "Return a wrong `iss` with the code",
    script=MAY_FAIL,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_wrong_issuer(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("wrong-iss", *OAUTH_ONLY)))


@official_scenario(
    "auth/iss-normalized",
    "Return an `iss` that differs by a slash",
    script=MAY_FAIL,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_normalized(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("iss-with-slash", *OAUTH_ONLY)))


@official_scenario(
    "auth/metadata-issuer-mismatch",
    "Serve metadata with another issuer",
    script=MAY_FAIL,
    exercises=("auth.issuer-of-metadata",),
    window=in_force("AU-26"),
)
async def drive_metadata_issuer_mismatch(stage: ClientStage) -> None:
    settings = {"endpoints": "/mismatched-as"}
    await protect(stage, Protection(settings=settings, faults=("issuer-mismatch", *OAUTH_ONLY)))


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


COMPARED: Final = "sep-2468-client-compare-iss-supported"


@official_check(
    "auth/iss-supported",
    "An answer with the right `iss` is accepted",
    requirements={COMPARED: "An answer with the right `iss` was rejected", **SHARED},
)
def judge_iss_supported(trace: Trace) -> Iterator[Observation]:
    yield from _accepted(trace, COMPARED)


@official_check(
    "auth/iss-not-advertised",
    "An answer without `iss` is accepted where none was announced",
    requirements={
        "sep-2468-client-proceed-no-iss": "An answer without `iss` was rejected, though none was announced",
        **SHARED,
    },
)
def judge_iss_not_advertised(trace: Trace) -> Iterator[Observation]:
    yield from _accepted(trace, "sep-2468-client-proceed-no-iss")


@official_check(
    "auth/iss-supported-missing",
    "An answer without the announced `iss` is rejected",
    requirements={
        "sep-2468-client-reject-missing-iss": "An answer without the announced `iss` was accepted",
        **SHARED,
    },
)
def judge_iss_supported_missing(trace: Trace) -> Iterator[Observation]:
    yield from _rejected(trace, "sep-2468-client-reject-missing-iss")


@official_check(
    "auth/iss-unexpected",
    "An answer with a wrong `iss` is rejected, even if none was announced",
    requirements={
        "sep-2468-client-compare-iss-unadvertised": "An answer with a wrong, unannounced `iss` was accepted",
        **SHARED,
    },
)
def judge_iss_unexpected(trace: Trace) -> Iterator[Observation]:
    yield from _rejected(trace, "sep-2468-client-compare-iss-unadvertised")


@official_check(
    "auth/iss-wrong-issuer",
    "An answer with a wrong `iss` is rejected",
    requirements={COMPARED: "An answer with a wrong `iss` was accepted", **SHARED},
)
def judge_iss_wrong_issuer(trace: Trace) -> Iterator[Observation]:
    yield from _rejected(trace, COMPARED)


@official_check(
    "auth/iss-normalized",
    "Issuers are compared as they are",
    requirements={
        "sep-2468-client-no-normalization": "An `iss` that differs by a slash was accepted",
        **SHARED,
    },
)
def judge_iss_normalized(trace: Trace) -> Iterator[Observation]:
    yield from _rejected(trace, "sep-2468-client-no-normalization")


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
    breaks="sep-2468-client-proceed-no-iss",
    scenario="auth/iss-not-advertised",
)
def issuer_insisted_on(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, TOKEN) else request


BEHAVIOURS: Final = (
    behaviour(
        "auth.issuer-not-missed",
        "accepts an answer without the announced `iss`",
        breaks="sep-2468-client-reject-missing-iss",
        scenario="auth/iss-supported-missing",
        needs_iss=False,
    ),
    behaviour(
        "auth.any-issuer-unannounced",
        "does not compare an `iss` that the metadata does not announce",
        breaks="sep-2468-client-compare-iss-unadvertised",
        scenario="auth/iss-unexpected",
        compares_iss=False,
    ),
    behaviour(
        "auth.any-issuer-announced",
        "does not compare the announced `iss`",
        breaks=COMPARED,
        scenario="auth/iss-wrong-issuer",
        compares_iss=False,
    ),
    behaviour(
        "auth.slash-forgiven",
        "ignores a slash at the end of `iss`",
        breaks="sep-2468-client-no-normalization",
        scenario="auth/iss-normalized",
        normalizes_iss=True,
    ),
    behaviour(
        "auth.foreign-metadata",
        "uses metadata with another issuer",
        breaks=FOREIGN_METADATA,
        scenario="auth/metadata-issuer-mismatch",
        compares_issuer=False,
    ),
    behaviour("auth.any-issuer", "accepts an answer with a wrong `iss`", breaks="AU-52", compares_iss=False),
    behaviour(
        "auth.issuer-unsaid",
        "accepts an answer without the announced `iss`",
        breaks="AU-53",
        needs_iss=False,
    ),
    behaviour(
        "auth.issuer-made-alike",
        "normalizes issuers before it compares them",
        breaks="AU-54",
        normalizes_iss=True,
    ),
    behaviour(
        "auth.metadata-of-anybody",
        "does not compare the issuer in the metadata",
        breaks="AU-26",
        compares_issuer=False,
    ),
)
