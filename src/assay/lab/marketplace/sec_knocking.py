"""Knocking with tokens of which only a new one is any good."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open


async def knock_ahead(stage: Stage, kind: str) -> None:
    """After the control, ask with a token that is not good yet; it is made now, so that it still is not."""
    await come_in(stage)
    if await stage.wallet.renew(kind):
        await try_open(stage, kind)
