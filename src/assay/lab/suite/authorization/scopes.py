"""Scopes: a token with too few of them, and the challenge that names those it needs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Observation,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_response,
    scenario,
)
from assay.lab.harness.driver.choice import SafeRequest, safe_requests_for
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import open_admitted, send_opening
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED, TOKENS_ON_DEMAND
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS
from assay.lab.harness.subject.bearer import STEPPED, WEAK
from assay.lab.harness.trace.authorization import (
    HEADER,
    METADATA,
    Challenge,
    bearer_challenge,
    calls_with,
    outcome_text,
)
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.protected_fault import drop_from_challenge, set_challenge_scope

# --- what is asked


@scenario(
    "Send requests with a token of too small a scope", needs=(PROTECTED, A_WEAK_TOKEN), transports=HTTP_ONLY
)
async def drive_small_scope(stage: Stage) -> None:
    await open_admitted(stage)
    async for _ in safe_requests(stage, await stage.connect(WEAK)):
        pass


async def safe_requests(stage: Stage, peer: Peer) -> AsyncIterator[tuple[SafeRequest | None, Reply]]:
    """Replies to the opening and, if it succeeds, to safe requests."""
    opened = await send_opening(stage, peer)
    yield None, opened
    if opened.is_result:
        for request in safe_requests_for(stage.facts):
            yield request, await request.ask(peer)


@scenario(
    "Repeat a refused request with the scopes of the challenge",
    needs=(PROTECTED, A_WEAK_TOKEN, TOKENS_ON_DEMAND),
    transports=HTTP_ONLY,
)
async def drive_step_up(stage: Stage) -> None:
    await open_admitted(stage)
    async for request, reply in safe_requests(stage, await stage.connect(WEAK)):
        if reply.status == 403:
            return await _step_up(stage, request, bearer_challenge(reply.head))


async def _step_up(stage: Stage, request: SafeRequest | None, challenge: Challenge | None) -> None:
    if challenge is None or not challenge.scopes or not await stage.tokens.step_up(challenge.scopes):
        return
    peer = await stage.connect(STEPPED)
    opened = await send_opening(stage, peer)
    if request is not None and opened.is_result:
        await request.ask(peer)


# --- how it is judged


ERROR: Final = "insufficient_scope"
EXPECTED: Final = f'Bearer error="{ERROR}" with scope and {METADATA}'


@check(
    "A token of too small a scope gets 403 and a challenge",
    requirements={
        "AU-06": "Insufficient scope was not refused with 403",
        "AU-69": "Insufficient scope was refused without a complete challenge",
    },
    transports=HTTP_ONLY,
)
def judge_small_scope(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, WEAK):
        # Other statuses: the scope was sufficient, or the request was refused for another reason.
        if call.head is None or call.status not in (401, 403):
            continue
        yield observe("AU-06", call.status == 403, call, expected="status 403", observed=outcome_text(call))
        complete = call.status == 403 and _is_complete(bearer_challenge(call.head))
        challenges = ", ".join(call.head.all(HEADER)) or "no challenge"
        yield observe("AU-69", complete, call, expected=EXPECTED, observed=challenges)


def _is_complete(challenge: Challenge | None) -> bool:
    if challenge is None or challenge.params.get("error") != ERROR:
        return False
    return bool(challenge.scopes) and bool(challenge.params.get(METADATA))


@check(
    "A challenge names every scope that the request needs",
    requirements=("AU-70", "AU-71"),
    transports=HTTP_ONLY,
)
def judge_step_up(trace: Trace) -> Iterator[Observation]:
    expected = "no second challenge: the token has the scopes of the first"
    for _, call in calls_with(trace, STEPPED):
        for requirement in ("AU-70", "AU-71"):
            yield observe(
                requirement, call.status != 403, call, expected=expected, observed=outcome_text(call)
            )


# --- what the checks must catch


@on_response("omits `insufficient_scope` from the challenge", breaks="AU-69", server=WITH_TOKENS)
def scope_without_error(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "error")


@on_response("names a scope in the challenge that is not sufficient", breaks="AU-70", server=WITH_TOKENS)
def wrong_scope(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        set_challenge_scope(response, "something-else")


@on_response("names one of two required scopes in the challenge", breaks="AU-71", server=WITH_TOKENS)
def scope_by_scope(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        set_challenge_scope(response, "mcp")
