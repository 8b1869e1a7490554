"""The issuer of metadata and of authorization responses is verified."""

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

from .altered_request import TOKEN, goes_to
from .flow import Journey, Spot, Stop, content
from .official_step import AUTHORIZATION, SHARED, walked
from .protected_server import BY_CODE, IN_VAIN, LIST_AND_CALL, OAUTH, Protection, protect

ANNOUNCED: Final = "authorization_response_iss_parameter_supported"
REACHED: Final = "an authorization request, whose answer is then judged"
STOPPED: Final = "the code that came with it is sent to no token endpoint"
TAKEN: Final = "a token request with the code that came with it"


class Answered(Struct, frozen=True):
    """An authorization request that was answered with a redirect."""

    asked: Stop
    params: dict[str, str]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.asked.frames

    @property
    def issuer(self) -> str | None:
        return self.params.get("iss")

    def taken(self, journey: Journey) -> list[Stop]:
        """The token requests with its code, wherever they went."""
        code = self.params.get("code")
        return [stop for stop in journey.exchanges if code and stop.said.get("code") == code]


def answers(journey: Journey) -> Iterator[Answered]:
    for stop in journey.authorizations:
        location = None if stop.call.head is None else stop.call.head.get("location")
        if location is not None and stop.call.status in (302, 303):
            yield Answered(stop, _params(location))


def _params(location: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))
    except ValueError:
        return {}


def refused(trace: Trace, row: str) -> Iterator[Observation]:
    """Scenarios whose answer must not be taken: the client gets one, and stops."""
    journey = Journey(trace)
    own = [_stopped(row, one, journey) for one in answers(journey)]
    yield from walked(trace, own, wanted={row: REACHED})


def _stopped(row: str, answer: Answered, journey: Journey) -> Observation:
    taken = answer.taken(journey)
    observed = f"a token request, although iss was {answer.issuer!r} from {answer.asked.spot.issuer}"
    return observe(row, not taken, answer, *taken, expected=STOPPED, observed=observed)


def accepted(trace: Trace, row: str) -> Iterator[Observation]:
    """Scenarios whose answer is right: the client takes it. One answer is enough."""
    journey = Journey(trace)
    given = list(answers(journey))
    taken = [stop for one in given for stop in one.taken(journey)]
    own = []
    if given:
        own = [observe(row, bool(taken), *given, *taken, expected=TAKEN, observed="no such request")]
    yield from walked(trace, own, owed=(AUTHORIZATION,), wanted={row: TAKEN})


WANTED: Final = "none of the endpoints in it is used"


def used(journey: Journey, row: str) -> Iterator[Observation]:
    """One observation for each authorization server whose metadata was read and is of another issuer."""
    for spot in journey.spots:
        read = [call for call in journey.documents_of(spot) if _is_foreign(call, spot)]
        if read:
            stops = [*journey.registrations, *journey.authorizations, *journey.exchanges]
            gone = [stop for stop in stops if stop.spot == spot and stop.n > read[0].request.n]
            observed = (
                f"issuer {content(read[0]).get('issuer')!r}, not {spot.issuer!r}, and a request goes to "
            )
            observed += ", ".join(sorted({stop.call.sent.target.partition("?")[0] for stop in gone}))
            yield observe(row, not gone, read[0], *gone[:3], expected=WANTED, observed=observed)


def _is_foreign(call: Call, spot: Spot) -> bool:
    told = content(call)
    return call.status == 200 and bool(told) and told.get("issuer") != spot.issuer


# --- what is asked


@official_scenario(
    "auth/iss-supported",
    "The issuer that answers is the right one",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=in_force("AU-52"),
)
async def drive_iss_supported(stage: ClientStage) -> None:
    await protect(stage)


@official_scenario(
    "auth/iss-not-advertised",
    "Nobody says who answers",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=in_force("AU-52"),
)
async def drive_iss_not_advertised(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-iss", "missing-iss", *OAUTH)))


@official_scenario(
    "auth/iss-supported-missing",
    "The answer does not say who gives it",
    script=IN_VAIN,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_supported_missing(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("missing-iss", *OAUTH)))


@official_scenario(
    "auth/iss-unexpected",
    "Another issuer answers, unannounced",
    script=IN_VAIN,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_unexpected(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-iss", "wrong-iss", *OAUTH)))


@official_scenario(
    "auth/iss-wrong-issuer",
    "Another issuer answers",
    script=IN_VAIN,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_wrong_issuer(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("wrong-iss", *OAUTH)))


@official_scenario(
    "auth/iss-normalized",
    "The issuer that answers is almost the right one",
    script=IN_VAIN,
    exercises=("auth.issuer-of-answer",),
    window=in_force("AU-52"),
)
async def drive_iss_normalized(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("iss-with-slash", *OAUTH)))


@official_scenario(
    "auth/metadata-issuer-mismatch",
    "Metadata of another issuer",
    script=IN_VAIN,
    exercises=("auth.issuer-of-metadata",),
    window=in_force("AU-26"),
)
async def drive_metadata_issuer_mismatch(stage: ClientStage) -> None:
    settings = {"endpoints": "/mismatched-as"}
    await protect(stage, Protection(settings=settings, faults=("issuer-mismatch", *OAUTH)))


# --- how it is judged


ROW = "sep-2468-client-compare-iss-supported"


@official_check("auth/iss-supported", "The issuer that answers is the right one", requirements=(ROW, *SHARED))
def judge_iss_supported(trace: Trace) -> Iterator[Observation]:
    yield from accepted(trace, ROW)


ISS_NOT_ADVERTISED_ROW = "sep-2468-client-proceed-no-iss"


@official_check(
    "auth/iss-not-advertised", "Nobody says who answers", requirements=(ISS_NOT_ADVERTISED_ROW, *SHARED)
)
def judge_iss_not_advertised(trace: Trace) -> Iterator[Observation]:
    yield from accepted(trace, ISS_NOT_ADVERTISED_ROW)


ISS_SUPPORTED_MISSING_ROW = "sep-2468-client-reject-missing-iss"


@official_check(
    "auth/iss-supported-missing",
    "The answer does not say who gives it",
    requirements=(ISS_SUPPORTED_MISSING_ROW, *SHARED),
)
def judge_iss_supported_missing(trace: Trace) -> Iterator[Observation]:
    yield from refused(trace, ISS_SUPPORTED_MISSING_ROW)


ISS_UNEXPECTED_ROW = "sep-2468-client-compare-iss-unadvertised"


@official_check(
    "auth/iss-unexpected", "Another issuer answers, unannounced", requirements=(ISS_UNEXPECTED_ROW, *SHARED)
)
def judge_iss_unexpected(trace: Trace) -> Iterator[Observation]:
    yield from refused(trace, ISS_UNEXPECTED_ROW)


@official_check("auth/iss-wrong-issuer", "Another issuer answers", requirements=(ROW, *SHARED))
def judge_iss_wrong_issuer(trace: Trace) -> Iterator[Observation]:
    yield from refused(trace, ROW)


ISS_NORMALIZED_ROW = "sep-2468-client-no-normalization"


@official_check(
    "auth/iss-normalized",
    "The issuer that answers is almost the right one",
    requirements=(ISS_NORMALIZED_ROW, *SHARED),
)
def judge_iss_normalized(trace: Trace) -> Iterator[Observation]:
    yield from refused(trace, ISS_NORMALIZED_ROW)


METADATA_ISSUER_MISMATCH_ROW = "sep-2468-client-validate-metadata-issuer"


@official_check(
    "auth/metadata-issuer-mismatch",
    "Metadata of another issuer",
    requirements=(METADATA_ISSUER_MISMATCH_ROW, *SHARED),
)
def judge_metadata_issuer_mismatch(trace: Trace) -> Iterator[Observation]:
    wanted = {METADATA_ISSUER_MISMATCH_ROW: f"a request for the metadata; then {WANTED}"}
    yield from walked(trace, used(Journey(trace), METADATA_ISSUER_MISMATCH_ROW), wanted=wanted)


COMPARED, MISSING, AS_IT_IS = "AU-52", "AU-53", "AU-54"
ROWS: Final = (COMPARED, MISSING, AS_IT_IS)


@check("An authorization answer of another issuer is not taken", requirements=ROWS)
def judge_issuer_of_answer(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for answer in answers(journey):
        row = _at_stake(answer, journey)
        if row is not None:
            taken = answer.taken(journey)
            observed = f"sent, although iss was {answer.issuer!r} from {answer.asked.spot.issuer}"
            yield observe(row, not taken, answer, *taken, expected=STOPPED, observed=observed)


def _at_stake(answer: Answered, journey: Journey) -> str | None:
    """The rule that forbids to take the answer; none where it is right, or the metadata was not read."""
    metadata, asked = journey.metadata_of(answer.asked.spot), answer.asked.spot.issuer
    if answer.issuer is None:
        return MISSING if metadata.get(ANNOUNCED) is True else None
    if answer.issuer == asked or not metadata:
        return None
    return AS_IT_IS if answer.issuer.rstrip("/") == asked.rstrip("/") else COMPARED


ISSUER_OF_METADATA_ROW = "AU-26"


@check("Metadata of another issuer is not used", requirements=(ISSUER_OF_METADATA_ROW,))
def judge_issuer_of_metadata(trace: Trace) -> Iterator[Observation]:
    yield from used(Journey(trace), ISSUER_OF_METADATA_ROW)


# --- what the checks must catch


@on_request(
    "it does not take the answer of the right issuer",
    breaks="sep-2468-client-compare-iss-supported",
    scenario="auth/iss-supported",
)
def right_issuer_refused(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, TOKEN) else request


@on_request(
    "it does not take an answer without an issuer that nobody announced",
    breaks="sep-2468-client-proceed-no-iss",
    scenario="auth/iss-not-advertised",
)
def issuer_insisted_on(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, TOKEN) else request


BEHAVIOURS: Final = (
    behaviour(
        "auth.issuer-not-missed",
        "it does not miss the issuer that the metadata announces",
        breaks="sep-2468-client-reject-missing-iss",
        scenario="auth/iss-supported-missing",
        needs_iss=False,
    ),
    behaviour(
        "auth.any-issuer-unannounced",
        "it does not compare an issuer that the metadata does not announce",
        breaks="sep-2468-client-compare-iss-unadvertised",
        scenario="auth/iss-unexpected",
        compares_iss=False,
    ),
    behaviour(
        "auth.any-issuer-announced",
        "it does not compare the issuer that the metadata announces",
        breaks="sep-2468-client-compare-iss-supported",
        scenario="auth/iss-wrong-issuer",
        compares_iss=False,
    ),
    behaviour(
        "auth.slash-forgiven",
        "it minds no slash at the end of an issuer",
        breaks="sep-2468-client-no-normalization",
        scenario="auth/iss-normalized",
        normalizes_iss=True,
    ),
    behaviour(
        "auth.foreign-metadata",
        "it uses metadata that names another issuer",
        breaks="sep-2468-client-validate-metadata-issuer",
        scenario="auth/metadata-issuer-mismatch",
        compares_issuer=False,
    ),
    behaviour("auth.any-issuer", "it takes the answer of another issuer", breaks="AU-52", compares_iss=False),
    behaviour(
        "auth.issuer-unsaid",
        "it takes an answer without the issuer that was announced",
        breaks="AU-53",
        needs_iss=False,
    ),
    behaviour(
        "auth.issuer-made-alike",
        "it makes issuers alike before it compares them",
        breaks="AU-54",
        normalizes_iss=True,
    ),
    behaviour(
        "auth.metadata-of-anybody",
        "it does not compare the issuer in the metadata",
        breaks="AU-26",
        compares_issuer=False,
    ),
)
