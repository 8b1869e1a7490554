"""Client identity: registration, client ID metadata documents and pre-registered clients."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from assay.authority.record import Client, digest
from assay.lab.client.declaration import client_scenario, in_force, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import JSON, body_of
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, DEFAULT, REGISTER, TOKEN, alters, behaves, is_to
from .flow import AuthRequest, Flow, client_of, credentials
from .official_step import APPLICATION, AUTHORIZATION, REGISTRATION, SHARED, observe_steps
from .protected_server import (
    CIMD,
    CODE_FLOW_CHECKS,
    LIST_AND_CALL,
    MAY_FAIL,
    WITH_DISCOVERY,
    WITH_DOCUMENTS,
    Protection,
    protect,
    protected_scenario,
)

# --- what is asked


DOCUMENTS, PREPARED = "auth/basic-cimd", "auth/pre-registration"
WITH_CIMD: Final = protected_scenario(
    DOCUMENTS, "Support client ID metadata documents", Protection(settings=WITH_DOCUMENTS)
)
NAME, SECRET = "pre-registered-client", "pre-registered-secret"
METHODS: Final = ("client_secret_basic",)
KNOWN: Final = Client(id=NAME, secret=digest(SECRET), methods=METHODS)
SETTINGS: Final = {"registration": False, "methods": METHODS, "clients": (KNOWN,)}


@official_scenario(
    PREPARED,
    "Know only a pre-registered client",
    script=LIST_AND_CALL,
    exercises=CODE_FLOW_CHECKS,
    window=WITH_DISCOVERY,
)
async def drive_pre_registration(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=SETTINGS))
    stage.context |= {"client_id": NAME, "client_secret": SECRET}


REGISTRY: Final = "registry"
"""The name of the HTTP server that rejects registrations."""
REJECTION: Final = {
    "error": "invalid_redirect_uri",
    "error_description": "these redirect URIs do not fit the application_type",
}


@client_scenario(
    "Reject every registration",
    script=MAY_FAIL,
    exercises=("auth.refused-registration",),
    transports=HTTP_ONLY,
    window=in_force("AU-46"),
)
async def drive_refused_registration(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(400, msgspec.json.encode(REJECTION), [("Content-Type", JSON)])

    url = f"{await stage.add_server(REGISTRY, serve)}/register"
    await protect(stage, Protection(settings={"metadata": {"registration_endpoint": url}}))


# --- how it is judged


DOCUMENT_USED: Final = "cimd-client-id-used"


@official_check(
    DOCUMENTS,
    "The client id is the URL of the metadata document",
    requirements={DOCUMENT_USED: "The client id is not the URL of the metadata document", **SHARED},
)
def judge_basic_cimd(trace: Trace) -> Iterator[Observation]:
    expected, own = f"client_id {CIMD}", []
    for request in Flow(trace).authorizations:
        name = request.params.get("client_id")
        own.append(
            observe(DOCUMENT_USED, name == CIMD, request, expected=expected, observed=f"client_id {name}")
        )
    yield from observe_steps(trace, own, steps=(AUTHORIZATION,), expected={DOCUMENT_USED: expected})


PRE_REGISTERED: Final = "pre-registration-auth"


@official_check(
    PREPARED,
    "Pre-registered credentials are used",
    requirements={PRE_REGISTERED: "A token request does not use the pre-registered credentials", **SHARED},
)
def judge_pre_registration(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    registered = tuple(flow.context.get(key) for key in ("client_id", "client_secret"))
    expected, own = "a token request with the pre-registered credentials, by HTTP Basic", []
    for request in flow.token_requests:
        pair = credentials(request)
        observed = "no valid Basic header" if pair is None else f"client_id {pair[0]}, and a secret"
        own.append(observe(PRE_REGISTERED, pair == registered, request, expected=expected, observed=observed))
    yield from observe_steps(trace, own, expected={PRE_REGISTERED: expected})


MOST_ATTEMPTS: Final = 3
"""Equal registrations that are allowed: a client may start over at each step."""


@check(
    "A rejected registration is handled",
    requirements={"AU-46": "The client ignored that its registration was rejected"},
)
def judge_refused_registration(trace: Trace) -> Iterator[Observation]:
    rejected = [call for call in trace.calls if call.request.connection == REGISTRY]
    if not rejected:
        return
    flow = Flow(trace)
    requests = (*flow.authorizations, *flow.token_requests)
    # A client may try the URL of its metadata document anywhere.
    invented = [request for request in requests if client_of(request) != CIMD]
    attempts = max(Counter(body_of(call.request.raw) for call in rejected).values())
    observed = [f"client_id {client_of(request)!r}" for request in invented[:1]]
    observed += [f"the same registration {attempts} times"] if attempts > MOST_ATTEMPTS else []
    yield observe(
        "AU-46",
        not observed,
        *rejected[:1],
        *invented[:1],
        expected="no request with a client id that was not issued, and no endless registrations",
        observed=", ".join(observed),
    )


@check(
    "A registration has an application type and the redirect URIs",
    requirements={
        "AU-45": "A registration has no valid `application_type`",
        "AU-86": "A redirect URI was used that is not registered",
    },
    transports=HTTP_ONLY,
)
def judge_registering(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for request in flow.registrations:
        kind = request.params.get("application_type")
        expected = "an application_type, native or web"
        yield observe("AU-45", kind in ("native", "web"), request, expected=expected, observed=repr(kind))
    for request in flow.authorizations:
        for registration in _registration(flow, request):
            used, known = request.params.get("redirect_uri"), registration.params.get("redirect_uris")
            uris = known if isinstance(known, list) else []
            # A client with one registered URI may omit it.
            holds = any(_same(uri, used) for uri in uris) or (used is None and len(uris) == 1)
            yield observe("AU-86", holds, registration, request, expected=f"one of {known}", observed=used)


def _registration(flow: Flow, request: AuthRequest) -> list[AuthRequest]:
    """The registration that issued the client id of a request, if any."""
    name = request.params.get("client_id")
    earlier = [
        past for past in flow.registrations if name is not None and past.answer.get("client_id") == name
    ]
    return earlier[:1]


def _same(registered: Any, used: Any) -> bool:
    """Whether the URIs are equal; the port of a loopback address may differ (RFC 8252, 7.3)."""
    if not isinstance(registered, str) or not isinstance(used, str):
        return False
    try:
        first, second = urlsplit(registered), urlsplit(used)
    except ValueError:
        return False
    loopback = is_local(first.netloc) and first.hostname == second.hostname
    return registered == used or (loopback and first._replace(netloc="") == second._replace(netloc=""))


@check(
    "The client id is one that the server can know",
    requirements={
        "AU-34": "The client did not use dynamic registration",
        "AU-35": "The client did not use its metadata document",
        "AU-36": "The client id is neither pre-registered nor registered nor a metadata document",
        "AU-37": "The client chose its client id in the wrong order of priority",
        "AU-38": "A client id URL is not https or has no path",
        "AU-41": "A metadata document was used at a server that does not support them",
        "AU-42": "The client did not use its pre-registered client id",
    },
    transports=HTTP_ONLY,
)
def judge_client_ids(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for request in flow.authorizations:
        yield from _judge_client_id(flow, request, str(request.params.get("client_id") or ""))


def _judge_client_id(flow: Flow, request: AuthRequest, name: str) -> Iterator[Observation]:
    registered, metadata = _registered_ids(flow, request), flow.metadata_of(request.server)
    documents = metadata.get("client_id_metadata_document_supported") is True
    known = name in registered or name == flow.context.get("client_id") or _is_document(name)
    observed = f"client_id {name!r}"

    expected = "a client id that is pre-registered, registered or the URL of a metadata document"
    yield observe("AU-36", known, request, expected=expected, observed=observed)
    if _is_url(name):
        expected = "an https URL with a path"
        yield observe("AU-38", _is_document(name), request, expected=expected, observed=observed)
    if metadata and (_is_url(name) or not documents):
        expected = "no URL, since the server does not support metadata documents"
        holds = documents or not _is_url(name)
        yield observe("AU-41", holds, request, expected=expected, observed=observed)
    for requirement, holds, expected in _priorities(flow, name, registered, metadata):
        yield observe(requirement, holds, request, expected=expected, observed=observed)
        yield observe("AU-37", holds, request, expected=expected, observed=observed)


def _priorities(
    flow: Flow, name: str, registered: set[str], metadata: dict[str, Any]
) -> Iterator[tuple[str, bool, str]]:
    """The kind of client id that has priority: its requirement, whether `name` is one, and what it is."""
    own = flow.context.get("client_id")
    if own is not None:
        yield "AU-42", name == own, f"the pre-registered client_id {own!r}"
    elif metadata.get("client_id_metadata_document_supported") is True:
        yield "AU-35", _is_url(name), "the URL of its metadata document, which the server supports"
    elif isinstance(metadata.get("registration_endpoint"), str):
        yield "AU-34", name in registered, "a registered client id"


def _registered_ids(flow: Flow, request: AuthRequest) -> set[str]:
    earlier = [past for past in flow.registrations if past.server == request.server and past.n < request.n]
    return {name for past in earlier if isinstance(name := past.answer.get("client_id"), str)}


def _is_url(name: str) -> bool:
    return "://" in name


def _is_document(name: str) -> bool:
    try:
        parts = urlsplit(name)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.netloc) and parts.path not in ("", "/")


# --- what the checks must catch


@on_request("sends a wrong secret", breaks=PRE_REGISTERED, scenario=PREPARED)
def other_secret(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, TOKEN):
        pair = f"{client.context['client_id']}:another-secret"
        request.set("Authorization", f"Basic {b64encode(pair.encode()).decode()}")
    return request


OTHER, SITE = "http://127.0.0.1:3000/elsewhere", "https://conformance-test.local"
_registers = partial(alters, REGISTER, DEFAULT)
ALTERED: Final = (
    _registers("no-application-type", "sends no application type", APPLICATION, application_type=None),
    _registers(
        "desktop-application", "sends an unknown application type", "AU-45", application_type="desktop"
    ),
    alters(
        AUTHORIZE, DEFAULT, "redirect-unregistered", "uses another redirect URI", "AU-86", redirect_uri=OTHER
    ),
    alters(
        AUTHORIZE, DOCUMENTS, "document-without-path", "uses an id URL without path", "AU-38", client_id=SITE
    ),
    alters(
        AUTHORIZE, PREPARED, "given-id-ignored", "invents a client id", "AU-42", client_id="somebody-else"
    ),
)
BEHAVIOURS: Final = (
    behaves(DEFAULT, "id-made-up", "invents a client id", "AU-36", registers=False),
    behaves(
        DEFAULT, "never-registers", "invents an id instead of registering", REGISTRATION, registers=False
    ),
    behaves(
        DEFAULT, "documents-not-offered", "uses an unsupported document", "AU-41", checks_documents=False
    ),
    behaves(
        DOCUMENTS, "document-unused", "registers despite its document", DOCUMENT_USED, uses_document=False
    ),
    behaves(
        DOCUMENTS, "registers-first", "prefers registration to its document", "AU-37", uses_document=False
    ),
    behaves(
        DOCUMENTS, "documents-unknown", "does not support metadata documents", "AU-35", uses_document=False
    ),
    behaves(
        "auth/token-endpoint-auth-none", "registration-unknown", "cannot register", "AU-34", registers=False
    ),
    behaviour(
        "auth.refusal-ignored", "continues as if it were registered", breaks="AU-46", honours_refusal=False
    ),
)
