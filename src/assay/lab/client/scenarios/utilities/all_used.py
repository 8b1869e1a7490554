"""Resources, templates, prompts and completion are used, and some names are easily changed on the way."""

from __future__ import annotations

from typing import Final

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import Brief, step, tried
from assay.lab.harness.scripted_server.stage import ClientStage

BARE: Final = "https://example.com"
"""Some would write a slash after it."""
ODD: Final = "memo://Notes/a%20b%c3%bc/../c?x=1&y=%26"
"""Some would write it in another way that means the same to them."""
KITCHEN: Final = "memo://rooms/kitchen"
ROOMS: Final = "memo://rooms/{room}"
LETTER: Final = "Letter to Somebody"
PAGE: Final = 2


@client_scenario(
    "Resources, prompts and completion are used as they were listed",
    brief=Brief(
        steps=(
            step("list_resources"),
            # Under a tidied URI nothing is found: that is for the check to tell, and no reason to end.
            tried(step("read_resource", uri=BARE)),
            tried(step("read_resource", uri=ODD)),
            step("list_templates"),
            step("read_resource", uri=KITCHEN),
            step("list_prompts"),
            step("get_prompt", name=LETTER, arguments={"to": "Ann", "about": "ü"}),
            step(
                "complete",
                ref={"type": "ref/prompt", "name": LETTER},
                argument={"name": "about", "value": "o"},
            ),
            step(
                "complete",
                ref={"type": "ref/resource", "uri": ROOMS},
                argument={"name": "room", "value": "k"},
            ),
        )
    ),
    exercises=("utilities.as-listed", "utilities.whole-lists"),
)
async def drive(stage: ClientStage) -> None:
    host = stage.host
    host.page = PAGE
    for uri in (BARE, ODD):
        host.add_resource(uri)
    host.memory["texts"][KITCHEN] = "warm"
    host.items["resourceTemplates"].append({"uriTemplate": ROOMS, "name": "rooms"})
    for name in ("One", "Two"):
        host.add_prompt(name)
    host.add_prompt(LETTER, arguments=[{"name": "to", "required": True}, {"name": "about"}])
    host.capabilities["completions"] = {}
