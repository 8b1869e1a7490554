"""An icon that leads elsewhere."""

from __future__ import annotations

from assay.lab.client.evidence import AFTER
from assay.lab.harness.client_saboteur import misbehaving
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.guest.web import Web
from assay.lab.harness.hosting.brief import LIST_TOOLS


@misbehaving("a redirect of an icon to another origin is followed", breaks="IC-02")
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play([LIST_TOOLS])
    away = await Web(guest).fetch("GET", guest.tools[AFTER]["icons"][0]["src"])
    await Web(guest).fetch("GET", away.head.get("location") or "")
