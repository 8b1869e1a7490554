"""One page more than there are."""

from __future__ import annotations

from contextlib import suppress

from assay.lab.harness.client_saboteur import misbehaving
from assay.lab.harness.guest.failure import Failed
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.hosting.brief import step


@misbehaving("a page is asked for after the last one", breaks="PAG-04", scenario="utilities.all-used")
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play([step("list_prompts")])
    with suppress(Failed):
        await guest.request("prompts/list", {"cursor": "at:4"})
