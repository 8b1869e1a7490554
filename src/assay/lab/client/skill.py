"""A skill with one supporting file: what the list says of it, and what is really read."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from assay.lab.harness.hosting.answer import Answer, Refused
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn
from assay.lab.harness.trace import Exchange, Trace
from assay.model.error import INVALID_PARAMS

EXTENSION: Final = "io.modelcontextprotocol/skills"
MANIFEST: Final = "skill://pdf-processing/SKILL.md"
SUPPORT: Final = "skill://pdf-processing/references/FORMS.md"
ABOUT: Final = {"name": "pdf-processing", "description": "Extract, fill, and assemble PDF documents"}
TEXTS: Final = {
    MANIFEST: f"---\nname: {ABOUT['name']}\ndescription: {ABOUT['description']}\n---\n\nHow it is done.\n",
    SUPPORT: "More on forms.\n",
}


def entry(texts: dict[str, str]) -> dict[str, Any]:
    """As the list has it, with digests and sizes of these texts."""
    files = [
        {"uri": uri, "digest": f"sha256:{sha256(text.encode()).hexdigest()}", "size": len(text.encode())}
        for uri, text in texts.items()
    ]
    return {"uri": MANIFEST, "frontmatter": ABOUT, "resources": files}


def offer_skill(stage: Hosting, *, listed: str = TEXTS[MANIFEST], read: str = TEXTS[MANIFEST]) -> None:
    """Offer the skill. The list describes one text of its manifest; another may be read."""
    host = stage.host
    host.capabilities |= {"resources": {}, "extensions": {EXTENSION: {}}}
    skill, texts = entry({**TEXTS, MANIFEST: listed}), {**TEXTS, MANIFEST: read}

    async def every(turn: Turn) -> Answer:
        return {"skills": [skill], **host.hints}

    async def one(turn: Turn) -> Answer:
        if turn.params.get("uri") != MANIFEST:
            raise Refused(INVALID_PARAMS, "no such skill")
        return {"skill": skill, **host.hints}

    async def contents(turn: Turn) -> Answer:
        uri = str(turn.params.get("uri"))
        if uri not in texts:
            raise Refused(turn.revision.resource_not_found, f"no such resource: {uri}", {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": texts[uri]}]}

    host.on("skills/list")(every)
    host.on("skills/get")(one)
    host.on("resources/read")(contents)


def listings(trace: Trace) -> list[Exchange]:
    return [one for one in trace.inquiries("skills/list") if one.result is not None]


def reads(trace: Trace, *uris: str) -> list[Exchange]:
    return [one for one in trace.inquiries("resources/read") if one.params.get("uri") in uris]
