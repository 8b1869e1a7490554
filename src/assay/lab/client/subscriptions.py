"""Notifications on a listen stream belong to its subscriptions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY

from .declaration import client_scenario
from .listen_client import LISTEN_SCRIPT, TOOLS_CHANGED, acknowledge, offer_changes

FOREIGN: Final = "a foreign notification"
"""The mark before a notification of another subscription."""
OWN: Final = "a notification of its own"

# --- what is asked


PAUSE: Final = 0.4
"""Seconds in which a client shows whether it reacts to the foreign notification."""


@client_scenario(
    "Send a notification of another subscription",
    script=LISTEN_SCRIPT,
    exercises=("subscriptions.own-only",),
    transports=STDIO_ONLY,
)
async def drive_own_only(stage: ClientStage) -> None:
    @stage.server.on("subscriptions/listen")
    async def listen(cycle: RequestCycle) -> Answer:
        own = await acknowledge(cycle, PAUSE)
        cycle.server.mark(FOREIGN)
        await cycle.notify(TOOLS_CHANGED, {"_meta": {SUBSCRIPTION_KEY: f"not-{cycle.id}"}})
        await asyncio.sleep(PAUSE)
        cycle.server.mark(OWN)
        await cycle.notify(TOOLS_CHANGED, own)
        await cycle.wait_for_disconnect()
        return DONE

    offer_changes(stage.server)


# --- how it is judged


@check(
    "Notifications are matched to their subscription",
    requirements=("STD-08", "SUB-07"),
    transports=STDIO_ONLY,
)
def judge_own_only(trace: Trace) -> Iterator[Observation]:
    own = next((mark.n for mark in trace.marks(OWN)), len(trace.frames))
    lists = [page.request.frame for page in trace.subject_exchanges("tools/list")]
    for foreign in trace.marks(FOREIGN):
        early = [frame for frame in lists if foreign.n < frame.n < own]
        late = [frame for frame in lists if frame.n > own][:1]
        for requirement in ("STD-08", "SUB-07") if early or late else ():
            expected = "no reaction to a notification of another subscription"
            observed, holds = "the tools were listed again", not early
            yield observe(requirement, holds, foreign, *early, *late, expected=expected, observed=observed)


# --- what the checks must catch


BEHAVIOURS: Final = tuple(
    behaviour(
        name,
        "reacts to a notification of another subscription",
        breaks=breaks,
        transports=STDIO_ONLY,
        ignores_unknown_subscriptions=False,
    )
    for name, breaks in (("framing.any-subscription", "STD-08"), ("subscriptions.any-listener", "SUB-07"))
)
