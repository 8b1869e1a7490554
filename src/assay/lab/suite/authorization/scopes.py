"""Scopes: a token with too few of them, and the way to a larger one."""

from __future__ import annotations

from collections.abc import Iterator
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
from assay.lab.harness.driver.try_open import ask, come_in
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED, TOKENS_AT_WILL
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS
from assay.lab.harness.subject.bearer import STEPPED, WEAK
from assay.lab.harness.trace.admission import calls_with, told
from assay.lab.harness.trace.challenge import HEADER, METADATA, Challenge, bearer_challenge
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.protected_fault import drop_from_challenge
from assay.lab.suite.scope_probe import first_refused, requests

# --- what is asked


@scenario(
    "A token with too small a scope",
    exercises=("authorization.small-scope",),
    needs=(PROTECTED, A_WEAK_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_small_scope(stage: Stage) -> None:
    await come_in(stage)
    async for _ in requests(stage, await stage.connect(WEAK)):
        pass


@scenario(
    "Coming back with the scopes of the challenge",
    exercises=("authorization.step-up",),
    needs=(PROTECTED, A_WEAK_TOKEN, TOKENS_AT_WILL),
    transports=HTTP_ONLY,
)
async def drive_step_up(stage: Stage) -> None:
    await come_in(stage)
    refused = await first_refused(stage, await stage.connect(WEAK))
    if refused is None:
        return
    errand, reply = refused
    challenge = bearer_challenge(reply.head)
    if challenge is not None and challenge.scopes and await stage.wallet.step_up(challenge.scopes):
        again = await stage.connect(STEPPED)
        opened = await ask(stage, again)
        if errand is not None and opened.is_result:
            await errand.ask(again)


# --- how it is judged


ERROR: Final = "insufficient_scope"
EXPECTED: Final = f'Bearer error="{ERROR}" with scope and {METADATA}'


@check("Too small a scope gets 403 and a challenge", requirements=("AU-06", "AU-69"), transports=HTTP_ONLY)
def judge_small_scope(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, WEAK):
        if call.head is None or call.status not in (401, 403):
            continue  # it was allowed, or refused for a reason of its own
        yield observe("AU-06", call.status == 403, call, expected="status 403", observed=told(call))
        seen = ", ".join(call.head.all(HEADER)) or "no challenge"
        full = call.status == 403 and _is_full(bearer_challenge(call.head))
        yield observe("AU-69", full, call, expected=EXPECTED, observed=seen)


def _is_full(challenge: Challenge | None) -> bool:
    if challenge is None or challenge.params.get("error") != ERROR:
        return False
    return bool(challenge.scopes) and bool(challenge.params.get(METADATA))


@check("A challenge names all scopes that it takes", requirements=("AU-70", "AU-71"), transports=HTTP_ONLY)
def judge_step_up(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, STEPPED):
        for row in ("AU-70", "AU-71"):
            yield observe(
                row,
                call.status != 403,
                call,
                expected="no second challenge: the token has the scopes of the first",
                observed=told(call),
            )


# --- what the checks must catch


@on_response("the challenge has no `insufficient_scope`", breaks="AU-69", server=WITH_TOKENS)
def scope_without_error(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "error")


@on_response("the challenge names a scope that is not enough", breaks="AU-70", server=WITH_TOKENS)
def wrong_scope(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "scope")
        response.set("WWW-Authenticate", f'{response.header("www-authenticate")}, scope="something-else"')


@on_response("the challenge names one scope of two", breaks="AU-71", server=WITH_TOKENS)
def scope_by_scope(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "scope")
        response.set("WWW-Authenticate", f'{response.header("www-authenticate")}, scope="mcp"')
