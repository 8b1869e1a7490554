"""Client identity: registration, client id metadata documents, pre-registered clients."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
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
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, REGISTER, TOKEN, altered, goes_to
from .credential import REGISTRY, client_of, credentials
from .flow import Journey, Stop
from .official_step import AUTHORIZATION, SHARED, walked
from .protected_server import BY_CODE, CIMD, DESCRIBED, FOUND, IN_VAIN, LIST_AND_CALL, Protection, protect

# --- what is asked


@official_scenario(
    "auth/basic-cimd",
    "A client id that is the address of a document",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive_basic_cimd(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=DESCRIBED))


NAME, SECRET = "pre-registered-client", "pre-registered-secret"
METHODS: Final = ("client_secret_basic",)
KNOWN: Final = Client(id=NAME, secret=digest(SECRET), methods=METHODS)
SETTINGS: Final = {"registration": False, "methods": METHODS, "clients": (KNOWN,)}


@official_scenario(
    "auth/pre-registration",
    "Credentials that the client was given",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive_pre_registration(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=SETTINGS))
    stage.context |= {"client_id": NAME, "client_secret": SECRET}


REFUSAL: Final = {
    "error": "invalid_redirect_uri",
    "error_description": "these redirect addresses do not suit the application_type",
}


@client_scenario(
    "A registration that is refused",
    script=IN_VAIN,
    exercises=("auth.refused-registration",),
    transports=HTTP_ONLY,
    window=in_force("AU-46"),
)
async def drive_refused_registration(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(400, msgspec.json.encode(REFUSAL), [("Content-Type", JSON)])

    address = f"{await stage.add_server(REGISTRY, serve)}/register"
    await protect(stage, Protection(settings={"metadata": {"registration_endpoint": address}}))


# --- how it is judged


ROW = "cimd-client-id-used"
WANTED = f"client_id {CIMD}"


@official_check(
    "auth/basic-cimd", "A client id that is the address of a document", requirements=(ROW, *SHARED)
)
def judge_basic_cimd(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _used(Journey(trace)), owed=(AUTHORIZATION,), wanted={ROW: WANTED})


def _used(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        name = stop.said.get("client_id")
        yield observe(ROW, name == CIMD, stop, expected=WANTED, observed=f"client_id {name}")


PRE_REGISTRATION_ROW = "pre-registration-auth"
PRE_REGISTRATION_WANTED: Final = (
    "a token request with the credentials that the client was given, by HTTP Basic"
)


@official_check(
    "auth/pre-registration",
    "Credentials that the client was given",
    requirements=(PRE_REGISTRATION_ROW, *SHARED),
)
def judge_pre_registration(trace: Trace) -> Iterator[Observation]:
    yield from walked(
        trace, _pre_registration_used(Journey(trace)), wanted={PRE_REGISTRATION_ROW: PRE_REGISTRATION_WANTED}
    )


def _pre_registration_used(journey: Journey) -> Iterator[Observation]:
    given = tuple(journey.context.get(key) for key in ("client_id", "client_secret"))
    for stop in journey.exchanges:
        shown = credentials(stop)
        observed = "no such header" if shown is None else f"client_id {shown[0]}, and a secret"
        yield observe(
            PRE_REGISTRATION_ROW, shown == given, stop, expected=PRE_REGISTRATION_WANTED, observed=observed
        )


REFUSED_REGISTRATION_ROW = "AU-46"
MOST: Final = 3
"""How often the very same registration may be tried: each step of a client may begin anew."""
EXPECTED: Final = "no request under a name that nobody gave out, and no endless row of registrations"


@check("A refused registration is handled", requirements=(REFUSED_REGISTRATION_ROW,))
def judge_refused_registration(trace: Trace) -> Iterator[Observation]:
    refused = [call for call in trace.calls if call.request.connection == REGISTRY]
    if not refused:
        return
    journey = Journey(trace)
    stops = [stop for stop in (*journey.authorizations, *journey.exchanges) if _is_made_up(stop)]
    again = _repeated(refused)
    observed = [f"client_id {client_of(stop)!r}" for stop in stops[:1]]
    observed += [f"{again} times the same registration"] if again > MOST else []
    holds = not stops and again <= MOST
    yield observe(
        REFUSED_REGISTRATION_ROW,
        holds,
        *refused[:1],
        *stops[:1],
        expected=EXPECTED,
        observed=", ".join(observed),
    )


def _is_made_up(stop: Stop) -> bool:
    """The address of its document a client may try anywhere."""
    return client_of(stop) != CIMD


def _repeated(refused: list[Call]) -> int:
    return max(Counter(body_of(call.request.raw) for call in refused).values())


TYPE, REDIRECTS = "AU-45", "AU-86"


@check("A registration says enough", requirements=(TYPE, REDIRECTS), transports=HTTP_ONLY)
def judge_registering(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.registrations:
        said = stop.said.get("application_type")
        expected = "an application_type, native or web"
        yield observe(TYPE, said in ("native", "web"), stop, expected=expected, observed=repr(said))
    for stop in journey.authorizations:
        for made in _made(journey, stop):
            used, known = stop.said.get("redirect_uri"), made.said.get("redirect_uris")
            uris = known if isinstance(known, list) else []
            # With a single one registered, there is no need to name it.
            holds = any(_same(one, used) for one in uris) or (used is None and len(uris) == 1)
            yield observe(REDIRECTS, holds, made, stop, expected=f"one of {known}", observed=used)


def _made(journey: Journey, stop: Stop) -> list[Stop]:
    """The registration under which a client asks."""
    name = stop.said.get("client_id")
    made = [one for one in journey.registrations if name is not None and one.told.get("client_id") == name]
    return made[:1]


def _same(registered: Any, used: Any) -> bool:
    """On this machine a port may be chosen for each request (RFC 8252, 7.3)."""
    if not isinstance(registered, str) or not isinstance(used, str):
        return False
    try:
        one, other = urlsplit(registered), urlsplit(used)
    except ValueError:
        return False
    loopback = is_local(one.netloc) and one.hostname == other.hostname
    return registered == used or (loopback and one._replace(netloc="") == other._replace(netloc=""))


REGISTERED, SUPPORT, SOURCE, ORDER = "AU-34", "AU-35", "AU-36", "AU-37"
ADDRESS, OFFERED, GIVEN = "AU-38", "AU-41", "AU-42"


@check(
    "The client id is one that the server can know",
    requirements=(REGISTERED, SUPPORT, SOURCE, ORDER, ADDRESS, OFFERED, GIVEN),
    transports=HTTP_ONLY,
)
def judge_client_ids(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        name = str(stop.said.get("client_id") or "")
        yield from _judged(journey, stop, name)


def _judged(journey: Journey, stop: Stop, name: str) -> Iterator[Observation]:
    given = journey.context.get("client_id")
    registered = _registered(journey, stop)
    metadata = journey.metadata_of(stop.spot)
    documents = metadata.get("client_id_metadata_document_supported") is True
    observed = f"client_id {name!r}"

    known = name == given or name in registered or is_document(name)
    expected = "an id that was given, registered or published"
    yield observe(SOURCE, known, stop, expected=expected, observed=observed)
    if is_url(name):
        expected = "an https address with a path"
        yield observe(ADDRESS, is_document(name), stop, expected=expected, observed=observed)
    if metadata and (is_url(name) or not documents):
        expected = "no address, since the server does not take such"
        yield observe(OFFERED, documents or not is_url(name), stop, expected=expected, observed=observed)
    if given is not None:
        expected = f"client_id {given!r}, which it was given"
        yield observe(GIVEN, name == given, stop, expected=expected, observed=observed)
        yield observe(ORDER, name == given, stop, expected=expected, observed=observed)
    elif documents:
        expected = "the address of its metadata document, since the server takes such"
        yield observe(SUPPORT, is_url(name), stop, expected=expected, observed=observed)
        yield observe(ORDER, is_url(name), stop, expected=expected, observed=observed)
    elif isinstance(metadata.get("registration_endpoint"), str):
        expected = "an id that it was registered under"
        yield observe(REGISTERED, name in registered, stop, expected=expected, observed=observed)
        yield observe(ORDER, name in registered, stop, expected=expected, observed=observed)


def _registered(journey: Journey, stop: Stop) -> set[str]:
    made = [one for one in journey.registrations if one.spot == stop.spot and one.n < stop.n]
    return {name for one in made if isinstance(name := one.told.get("client_id"), str)}


def is_url(name: str) -> bool:
    return "://" in name


def is_document(name: str) -> bool:
    try:
        parts = urlsplit(name)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.netloc) and parts.path not in ("", "/")


# --- what the checks must catch


@on_request(
    "it shows another secret than it was given",
    breaks="pre-registration-auth",
    scenario="auth/pre-registration",
)
def other_secret(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, TOKEN):
        pair = f"{client.context['client_id']}:another-secret"
        request.set("Authorization", f"Basic {b64encode(pair.encode()).decode()}")
    return request


@on_request(
    "it registers as an application of no known type", breaks="AU-45", scenario="auth/metadata-default"
)
def desktop_application(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, REGISTER, application_type="desktop")


@on_request(
    "it wants the answer at an address that it did not register",
    breaks="AU-86",
    scenario="auth/metadata-default",
)
def redirect_unregistered(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, redirect_uri="http://127.0.0.1:3000/elsewhere")


@on_request("its id is an address without a path", breaks="AU-38", scenario="auth/basic-cimd")
def document_without_path(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, client_id="https://conformance-test.local")


@on_request("it is not who it was told to be", breaks="AU-42", scenario="auth/pre-registration")
def given_id_ignored(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, client_id="somebody-else")


@on_request(
    "it registers without a type of application",
    breaks="sep-837-application-type-present",
    scenario="auth/metadata-default",
)
def no_application_type(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, REGISTER, application_type=None)


BEHAVIOURS: Final = (
    behaviour(
        "auth.document-unused",
        "it registers though the server takes documents",
        breaks="cimd-client-id-used",
        scenario="auth/basic-cimd",
        uses_document=False,
    ),
    behaviour(
        "auth.refusal-ignored", "it goes on as if it were registered", breaks="AU-46", honours_refusal=False
    ),
    behaviour(
        "auth.registration-unknown",
        "it cannot register",
        breaks="AU-34",
        scenario="auth/token-endpoint-auth-none",
        registers=False,
    ),
    behaviour(
        "auth.documents-unknown",
        "it knows no metadata documents of clients",
        breaks="AU-35",
        scenario="auth/basic-cimd",
        uses_document=False,
    ),
    behaviour(
        "auth.id-made-up",
        "it makes up its own id",
        breaks="AU-36",
        scenario="auth/metadata-default",
        registers=False,
    ),
    behaviour(
        "auth.registers-first",
        "it registers before it thinks of its document",
        breaks="AU-37",
        scenario="auth/basic-cimd",
        uses_document=False,
    ),
    behaviour(
        "auth.documents-not-offered",
        "its id is a document though the server takes none",
        breaks="AU-41",
        scenario="auth/metadata-default",
        checks_documents=False,
    ),
    behaviour(
        "auth.never-registers",
        "it makes up its id instead of registering",
        breaks="client-registration",
        scenario="auth/metadata-default",
        registers=False,
    ),
)
