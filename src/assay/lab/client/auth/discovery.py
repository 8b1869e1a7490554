"""Discovery: protected resource metadata, then authorization server metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.challenge import METADATA
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import ENDPOINT
from .flow import OAUTH, OIDC, Journey, Spot, before, path_in, path_of
from .official_step import AUTHORIZATION, PRM, REGISTRATION, SHARED, TOKEN, WHOLE, walked
from .protected_server import ANY, BY_CODE, FOUND, LIST_AND_CALL, OF_OLD, OLD, ROOT, Protection, protect

ROW = "authorization-server-metadata-wrong-path"


def rootless(journey: Journey) -> Iterator[Observation]:
    for spot in journey.spots:
        for call in journey.documents_of(spot) if spot.tenant else ():
            at = path_in(call)
            expected = f"the path {spot.tenant} of the issuer in the address"
            yield observe(ROW, at != OAUTH, call, expected=expected, observed=f"asked for at {at}")


# --- what is asked


@official_scenario(
    "auth/metadata-default",
    "Metadata where the challenge says",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/basic-dcr",),
)
async def drive_metadata_default(stage: ClientStage) -> None:
    await protect(stage)


@official_scenario(
    "auth/metadata-var1",
    "Metadata at the endpoint's well-known address, and OpenID Connect's document",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive_metadata_var1(stage: ClientStage) -> None:
    await protect(stage, Protection(named=False, faults=("metadata-404-oauth", ANY)))


@official_scenario(
    "auth/metadata-var2",
    "Metadata at the root, and an issuer with a path",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive_metadata_var2(stage: ClientStage) -> None:
    await protect(stage, Protection(named=False, at=ROOT, tenant="/tenant1"))


@official_scenario(
    "auth/metadata-var3",
    "Metadata at an address of its own, and OpenID Connect's document below the issuer",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
)
async def drive_metadata_var3(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(
            at="/custom/metadata/location.json", tenant="/tenant1", faults=("metadata-only-appended", ANY)
        ),
    )


@official_scenario(
    f"{OF_OLD}oauth-endpoint-fallback",
    "No metadata at all",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=OLD,
)
async def drive_oauth_endpoint_fallback(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(together=True, faults=("metadata-404-oauth", "metadata-404-oidc", "missing-iss", ANY)),
    )


@official_scenario(
    f"{OF_OLD}oauth-metadata-backcompat",
    "Metadata of the server on the endpoint's origin",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=OLD,
)
async def drive_oauth_metadata_backcompat(stage: ClientStage) -> None:
    await protect(stage, Protection(together=True, settings={"endpoints": "/oauth"}))


# --- how it is judged


METADATA_DEFAULT_ROW = "prm-priority-order"


@official_check(
    "auth/metadata-default", "Metadata where the challenge says", requirements=(METADATA_DEFAULT_ROW, *SHARED)
)
def judge_metadata_default(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _order(Journey(trace)), owed=(PRM, *WHOLE))


def _order(journey: Journey) -> Iterator[Observation]:
    for call in journey.resource_documents:
        at = path_in(call)
        expected = "the metadata asked for where the challenge says, not at the root"
        yield observe(
            METADATA_DEFAULT_ROW, at != ROOT, call, expected=expected, observed=f"asked for at {at}"
        )


@official_check("auth/metadata-var1", "Metadata at well-known addresses", requirements=SHARED)
def judge_metadata_var1(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, owed=(PRM, *WHOLE))


@official_check("auth/metadata-var2", "Metadata of an issuer with a path", requirements=(ROW, *SHARED))
def judge_metadata_var2(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, rootless(Journey(trace)), owed=WHOLE)


@official_check("auth/metadata-var3", "Metadata of an issuer with a path", requirements=(ROW, *SHARED))
def judge_metadata_var3(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, rootless(Journey(trace)), owed=WHOLE)


@official_check(
    f"{OF_OLD}oauth-endpoint-fallback",
    "The endpoints that every server had are used where there is no metadata",
    requirements=SHARED,
)
def judge_oauth_endpoint_fallback(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, owed=(REGISTRATION, AUTHORIZATION, TOKEN))


@official_check(
    f"{OF_OLD}oauth-metadata-backcompat",
    "The metadata on the endpoint's own origin is found and used",
    requirements=SHARED,
)
def judge_oauth_metadata_backcompat(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, owed=WHOLE)


THROUGH, HEEDED, ORDER = "AU-11", "AU-12", "AU-13"


@check(
    "Metadata of the resource leads to the authorization server",
    requirements=(THROUGH, HEEDED, ORDER),
    transports=HTTP_ONLY,
)
def judge_resource_metadata(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    if not any(spot.metadata for spot in journey.spots):
        return  # there is none to be found
    yield from _through(journey)
    yield from _heeded(journey)
    for call in journey.resource_documents[:1]:
        named = _named(before((one for one, _ in journey.challenged), call.request.n), journey)
        expected = named or f"{ROOT}{path_of(journey.spots[0].url)}"
        at = path_in(call)
        yield observe(ORDER, at == expected, call, expected=f"{expected} asked for first", observed=at)


def _through(journey: Journey) -> Iterator[Observation]:
    for call in _of_servers(journey)[:1]:
        asked = before(journey.resource_documents, call.request.n)
        expected = "the metadata of the resource asked for before any authorization server"
        yield observe(THROUGH, bool(asked), *asked[:1], call, expected=expected, observed=_told(call))


def _heeded(journey: Journey) -> Iterator[Observation]:
    for call, challenge in journey.challenged[:1]:
        named = path_of(challenge.params[METADATA]) if METADATA in challenge.params else ""
        later = [*journey.resource_documents, *_of_servers(journey)]
        later = [one for one in later if one.request.n > call.request.n]
        if named and later:
            asked = [one for one in later if path_in(one) == named]
            expected = f"a request for {named}, which the challenge names"
            yield observe(HEEDED, bool(asked), call, expected=expected, observed=_told(later[0]))


def _named(challenged: list[Call], journey: Journey) -> str:
    """The place that challenges had named by then."""
    told = [challenge for call, challenge in journey.challenged if call in challenged]
    return next((path_of(one.params[METADATA]) for one in told if METADATA in one.params), "")


def _of_servers(journey: Journey) -> list[Call]:
    """All requests that are for an authorization server, wherever it was looked for."""
    stops = (*journey.registrations, *journey.authorizations, *journey.exchanges)
    calls = [*journey.server_documents, *(stop.call for stop in stops)]
    return sorted(calls, key=lambda call: call.request.n)


def _told(call: Call) -> str:
    return f"{call.sent.method} {path_in(call)}"


USED, OPENID, WITH_PATH, WITHOUT_PATH = "AU-22", "AU-23", "AU-24", "AU-25"


@check(
    "Metadata of the authorization server is found and used",
    requirements=(USED, OPENID, WITH_PATH, WITHOUT_PATH),
    transports=HTTP_ONLY,
)
def judge_server_metadata(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        yield from _used(journey, spot)
        yield from _openid(journey, spot)
        yield from _server_metadata_order(journey, spot)


def _used(journey: Journey, spot: Spot) -> Iterator[Observation]:
    stops = [*journey.registrations, *journey.authorizations, *journey.exchanges]
    first = min((stop.n for stop in stops if stop.spot == spot), default=None)
    if first is None or not any(OAUTH in place for place in spot.documents):
        return
    stop = next(stop for stop in stops if stop.n == first)
    read = [call for call in before(journey.documents_of(spot), first) if call.status == 200]
    expected = "the metadata read before any endpoint of the authorization server is used"
    yield observe(
        USED, bool(read), *read[:1], stop, expected=expected, observed=f"{path_in(stop.call)} first"
    )


def _openid(journey: Journey, spot: Spot) -> Iterator[Observation]:
    """Where there is only the document of OpenID Connect."""
    places = {path_of(url) for url in spot.documents}
    asked = journey.documents_of(spot)
    if asked and places and not any(OAUTH in place for place in places):
        found = [call for call in asked if path_in(call) in places]
        expected = f"a request for {min(places)}"
        observed = "only " + ", ".join(dict.fromkeys(map(path_in, asked)))
        yield observe(OPENID, bool(found), *asked, expected=expected, observed=observed)


def _server_metadata_order(journey: Journey, spot: Spot) -> Iterator[Observation]:
    tenant = spot.tenant
    places = list(dict.fromkeys([f"{OAUTH}{tenant}", f"{OIDC}{tenant}", f"{tenant}{OIDC}"]))
    asked: dict[str, Call] = {}
    for one in journey.documents_of(spot):
        asked.setdefault(path_in(one), one)
    for number, place in enumerate(places):
        if place in asked:
            call = asked[place]
            # Several may be asked for at once: what matters is what was known when the answer came.
            answered = call.received[-1].n if call.received else call.request.n
            missing = [at for at in places[:number] if at not in asked or asked[at].request.n > answered]
            row = WITH_PATH if tenant else WITHOUT_PATH
            expected = "before it " + ", ".join(places[:number])
            yield observe(row, not missing, call, expected=expected, observed=f"{place} without {missing}")


BASE, DEFAULTS, VERSION = "AU-28", "AU-29", "AU-31"


@check(
    "An authorization server on the endpoint's origin is found",
    requirements=(BASE, DEFAULTS, VERSION),
    transports=HTTP_ONLY,
)
def judge_old_discovery(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        if not spot.metadata:
            yield from (_base if spot.documents else _defaults)(journey, spot)
    for call in journey.server_documents:
        version = call.sent.get("mcp-protocol-version")
        expected = "a header MCP-Protocol-Version"
        yield observe(VERSION, version is not None, call, expected=expected, observed="none")


def _base(journey: Journey, spot: Spot) -> Iterator[Observation]:
    asked = [path_in(call) for call in journey.documents_of(spot)]
    if asked:
        holds = OAUTH in asked
        evidence = journey.documents_of(spot)
        yield observe(BASE, holds, *evidence, expected=f"a request for {OAUTH}", observed=", ".join(asked))


def _defaults(journey: Journey, spot: Spot) -> Iterator[Observation]:
    asked = journey.documents_of(spot)
    stops = [*journey.registrations, *journey.authorizations]
    for stop in sorted(stops, key=lambda one: one.n)[:1]:
        tried = before(asked, stop.n)
        expected = "metadata tried first, then the default endpoints"
        yield observe(DEFAULTS, bool(tried), *tried, stop, expected=expected, observed="no metadata tried")
    if asked and not stops:
        expected = "requests to the default endpoints, as there is no metadata"
        yield observe(DEFAULTS, False, *asked, expected=expected, observed="none")


# --- what the checks must catch


@on_request(
    "it looks for metadata below the path of the endpoint",
    breaks="AU-28",
    scenario=f"{OF_OLD}oauth-metadata-backcompat",
)
def metadata_below_endpoint(request: Request, client: ScriptedClient) -> Request | None:
    if request.target == OAUTH:
        request.target = f"{OAUTH}{ENDPOINT}"
    return request


@on_request(
    "it asks for metadata without naming a version",
    breaks="AU-31",
    scenario=f"{OF_OLD}oauth-metadata-backcompat",
)
def discovery_without_version(request: Request, client: ScriptedClient) -> Request | None:
    if "/.well-known/" in request.target:
        request.set("MCP-Protocol-Version", None)
    return request


BEHAVIOURS: Final = (
    behaviour(
        "auth.root-first",
        "it asks for the metadata of the resource at the root",
        breaks="prm-priority-order",
        scenario="auth/metadata-default",
        asks_root_first=True,
    ),
    behaviour(
        "auth.issuer-without-path",
        "it drops the path of the issuer",
        breaks="authorization-server-metadata-wrong-path",
        scenario="auth/metadata-var2",
        drops_issuer_path=True,
    ),
    behaviour(
        "auth.server-at-endpoint",
        "it takes the endpoint's origin for the authorization server",
        breaks="AU-11",
        scenario="auth/metadata-var1",
        reads_resource_metadata=False,
    ),
    behaviour(
        "auth.challenge-not-read",
        "it does not read where the challenge says that the metadata is",
        breaks="AU-12",
        scenario="auth/metadata-var3",
        honours_challenge=False,
    ),
    behaviour(
        "auth.root-before-path",
        "it looks at the root before it looks at the endpoint's path",
        breaks="AU-13",
        scenario="auth/metadata-var1",
        asks_root_first=True,
    ),
    behaviour(
        "auth.endpoints-guessed",
        "it guesses where the endpoints are",
        breaks="AU-22",
        scenario="auth/scope-from-www-authenticate",
        reads_server_metadata=False,
    ),
    behaviour(
        "auth.openid-unknown",
        "it knows no document of OpenID Connect",
        breaks="AU-23",
        scenario="auth/metadata-var1",
        knows_openid=False,
    ),
    behaviour(
        "auth.openid-first-with-path",
        "it asks for OpenID Connect's document of an issuer with a path first",
        breaks="AU-24",
        scenario="auth/metadata-var2",
        openid_first=True,
    ),
    behaviour(
        "auth.openid-first",
        "it asks for OpenID Connect's document first",
        breaks="AU-25",
        scenario="auth/metadata-default",
        openid_first=True,
    ),
    behaviour(
        "auth.defaults-at-once",
        "it tries no metadata before the default endpoints",
        breaks="AU-29",
        scenario=f"{OF_OLD}oauth-endpoint-fallback",
        reads_server_metadata=False,
    ),
    behaviour(
        "auth.no-server-metadata",
        "it never asks for the metadata of the authorization server",
        breaks="authorization-server-metadata",
        scenario="auth/metadata-default",
        reads_server_metadata=False,
    ),
    behaviour(
        "auth.no-resource-metadata",
        "it never asks for the metadata of the resource",
        breaks="prm-pathbased-requested",
        scenario="auth/metadata-default",
        reads_resource_metadata=False,
    ),
)
