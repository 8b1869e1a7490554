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

# --- what is asked


PAUSE = 0.4
"""Seconds in which a client shows whether it takes the foreign one for its own."""


@client_scenario(
    "Notifications are told apart by the subscription that they name",
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


FOREIGN, OWN = "a foreign notification", "a notification of its own"
"""Marks: of what follows, the first is of no subscription of the client's."""
ROWS = ("STD-08", "SUB-07")


@check("Notifications are told apart by their subscription", requirements=ROWS, transports=STDIO_ONLY)
def judge_own_only(trace: Trace) -> Iterator[Observation]:
    own = next((mark.n for mark in trace.marks(OWN)), len(trace.frames))
    for foreign in trace.marks(FOREIGN):
        listed = [one.request.frame for one in trace.subject_exchanges("tools/list")]
        early = [one for one in listed if foreign.n < one.n < own]
        late = [one for one in listed if one.n > own]
        for row in ROWS:
            if early or late:
                expected = "nothing to be done about a notification of another subscription"
                observed = "the tools were listed again"
                yield observe(
                    row, not early, foreign, *early, *late[:1], expected=expected, observed=observed
                )


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaviour(
        "framing.any-subscription",
        "a notification of another subscription is taken for its own",
        breaks="STD-08",
        transports=STDIO_ONLY,
        ignores_unknown_subscriptions=False,
    ),
    behaviour(
        "subscriptions.any-listener",
        "a notification of another subscription is taken for its own",
        breaks="SUB-07",
        transports=STDIO_ONLY,
        ignores_unknown_subscriptions=False,
    ),
)
