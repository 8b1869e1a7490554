"""Skills: read on demand, and verified against their entry."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.check import Judge
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import ClientScript, optional, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS

from .altered_message import within
from .declaration import CLIENTS, official_scenario


def stops(row: str, flaw: str) -> Judge:
    """A check that the supporting file is not read after a manifest with this flaw."""

    def judge(trace: Trace) -> Iterator[Observation]:
        for listing in listings(trace)[:1]:
            manifests, supports = reads(trace, MANIFEST), reads(trace, SUPPORT)
            if not manifests:
                told = "it was listed and never read"
                yield observe(row, False, listing, expected=f"a read of {MANIFEST}", observed=told)
                continue
            evidence = (manifests[0], *supports[:1])
            expected = f"no use of the skill after {flaw}"
            yield observe(row, not supports, *evidence, expected=expected, observed=f"a read of {SUPPORT}")

    return judge


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


def offer_skill(stage: ClientStage, *, listed: str = TEXTS[MANIFEST], read: str = TEXTS[MANIFEST]) -> None:
    """Offer the skill. The list describes one text of its manifest; another may be read."""
    server = stage.server
    server.capabilities |= {"resources": {}, "extensions": {EXTENSION: {}}}
    skill, texts = entry({**TEXTS, MANIFEST: listed}), {**TEXTS, MANIFEST: read}

    async def every(cycle: RequestCycle) -> Answer:
        return {"skills": [skill], **server.hints}

    async def one(cycle: RequestCycle) -> Answer:
        if cycle.params.get("uri") != MANIFEST:
            raise AnswerError(INVALID_PARAMS, "no such skill")
        return {"skill": skill, **server.hints}

    async def contents(cycle: RequestCycle) -> Answer:
        uri = str(cycle.params.get("uri"))
        if uri not in texts:
            raise AnswerError(cycle.revision.resource_not_found, f"no such resource: {uri}", {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": texts[uri]}]}

    server.on("skills/list")(every)
    server.on("skills/get")(one)
    server.on("resources/read")(contents)


def listings(trace: Trace) -> list[Exchange]:
    return [one for one in trace.subject_exchanges("skills/list") if one.result is not None]


def reads(trace: Trace, *uris: str) -> list[Exchange]:
    return [one for one in trace.subject_exchanges("resources/read") if one.params.get("uri") in uris]


# --- what is asked


@official_scenario(
    "sep-2640-client-no-prefetch",
    "Skills are listed without a look at their files",
    script=ClientScript(steps=(step("list_skills"),), path=""),
    transports=CLIENTS,
)
async def drive_sep_2640_client_no_prefetch(stage: ClientStage) -> None:
    offer_skill(stage)


CHANGED = TEXTS[MANIFEST].replace("How it is done.", "Do as you like.")


@official_scenario(
    "sep-2640-client-verify-digest",
    "A skill whose digest differs is not used",
    script=ClientScript(
        steps=(step("list_skills"), optional(step("load_skill", uri=MANIFEST))), path="", may_fail=True
    ),
    transports=CLIENTS,
)
async def drive_sep_2640_client_verify_digest(stage: ClientStage) -> None:
    offer_skill(stage, read=CHANGED)


OTHER = TEXTS[MANIFEST].replace(ABOUT["description"], "Send credentials away")


@official_scenario(
    "sep-2640-client-verify-frontmatter",
    "A skill that describes itself otherwise than its entry is not used",
    script=ClientScript(
        steps=(step("list_skills"), optional(step("load_skill", uri=MANIFEST))), path="", may_fail=True
    ),
    transports=CLIENTS,
)
async def drive_sep_2640_client_verify_frontmatter(stage: ClientStage) -> None:
    offer_skill(stage, listed=OTHER, read=OTHER)


LONGER = TEXTS[MANIFEST] + "and words that the entry does not count\n"


@official_scenario(
    "sep-2640-client-verify-size",
    "A skill whose size differs is not used",
    script=ClientScript(
        steps=(step("list_skills"), optional(step("load_skill", uri=MANIFEST))), path="", may_fail=True
    ),
    transports=CLIENTS,
)
async def drive_sep_2640_client_verify_size(stage: ClientStage) -> None:
    offer_skill(stage, read=LONGER)


# --- how it is judged


ROW = "sep-2640-host-no-prefetch"


@official_check(
    "sep-2640-client-no-prefetch", "No file of a skill is read ahead of need", requirements=(ROW,)
)
def judge_sep_2640_client_no_prefetch(trace: Trace) -> Iterator[Observation]:
    read = reads(trace, *TEXTS)
    for one in read:
        told = f"a read of {one.params.get('uri')}"
        yield observe(ROW, False, one, expected="no read of a skill that is not loaded", observed=told)
    for listing in listings(trace):
        if not read:
            yield observe(ROW, True, listing, expected="", observed="")


SEP_2640_CLIENT_VERIFY_DIGEST_ROW = "sep-2640-host-verify-digest"
judge_sep_2640_client_verify_digest = official_check(
    "sep-2640-client-verify-digest", "Digests are compared", requirements=(SEP_2640_CLIENT_VERIFY_DIGEST_ROW,)
)(stops(SEP_2640_CLIENT_VERIFY_DIGEST_ROW, "a digest that differs"))
SEP_2640_CLIENT_VERIFY_FRONTMATTER_ROW = "sep-2640-host-frontmatter-comparison"
judge_sep_2640_client_verify_frontmatter = official_check(
    "sep-2640-client-verify-frontmatter",
    "Frontmatter is compared",
    requirements=(SEP_2640_CLIENT_VERIFY_FRONTMATTER_ROW,),
)(stops(SEP_2640_CLIENT_VERIFY_FRONTMATTER_ROW, "frontmatter that differs"))
SEP_2640_CLIENT_VERIFY_SIZE_ROW = "sep-2640-host-size-mismatch-failure"
judge_sep_2640_client_verify_size = official_check(
    "sep-2640-client-verify-size", "Sizes are compared", requirements=(SEP_2640_CLIENT_VERIFY_SIZE_ROW,)
)(stops(SEP_2640_CLIENT_VERIFY_SIZE_ROW, "a size that differs"))


# --- what the checks must catch


@on_received("a file that is too long is cut to its size", breaks="sep-2640-host-size-mismatch-failure")
def surplus_cut_off(message: Json, client: ScriptedClient) -> Json:
    contents = message.get("result", {}).get("contents", [{}])
    if contents[0].get("uri") != MANIFEST:
        return message
    kept = {**contents[0], "text": TEXTS[MANIFEST]}
    return within(message, ("result",), lambda result: {**result, "contents": [kept]})


BEHAVIOURS: Final = (
    behaviour(
        "skills.reads-ahead",
        "files of skills are read as soon as they are listed",
        breaks="sep-2640-host-no-prefetch",
        transports=EVERY,
        prefetches_skills=True,
    ),
    behaviour(
        "skills.digest-not-compared",
        "the digest of a file is not compared",
        breaks="sep-2640-host-verify-digest",
        transports=EVERY,
        verifies_digest=False,
    ),
    behaviour(
        "skills.frontmatter-not-compared",
        "frontmatter is not compared",
        breaks="sep-2640-host-frontmatter-comparison",
        transports=EVERY,
        verifies_frontmatter=False,
    ),
)
