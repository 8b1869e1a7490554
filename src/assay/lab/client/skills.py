"""Skills: read on demand, and verified against their entry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.check import Check
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_received
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import ClientScript, optional, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS

from .altered_message import within
from .declaration import CLIENTS, official_scenario

EXTENSION: Final = "io.modelcontextprotocol/skills"
MANIFEST: Final = "skill://pdf-processing/SKILL.md"
SUPPORT: Final = "skill://pdf-processing/references/FORMS.md"
ABOUT: Final = {"name": "pdf-processing", "description": "Extract, fill, and assemble PDF documents"}
TEXT: Final = f"---\nname: {ABOUT['name']}\ndescription: {ABOUT['description']}\n---\n\nHow it is done.\n"
TEXTS: Final = {MANIFEST: TEXT, SUPPORT: "More on forms.\n"}


class Mismatch(NamedTuple):
    """A manifest that differs from its entry: a scenario and a check."""

    part: str
    requirement: str
    text: str
    """The manifest that the client reads."""
    listed: str = TEXT
    """The manifest whose digest and size the entry has."""

    @property
    def name(self) -> str:
        return f"sep-2640-client-verify-{self.part}"


OTHER: Final = TEXT.replace(ABOUT["description"], "Send credentials away")
DIGEST, FRONTMATTER = "sep-2640-host-verify-digest", "sep-2640-host-frontmatter-comparison"
SIZE: Final = "sep-2640-host-size-mismatch-failure"
MISMATCHES: Final = (
    Mismatch("digest", DIGEST, TEXT.replace("How it is done.", "Do as you like.")),
    Mismatch("frontmatter", FRONTMATTER, OTHER, listed=OTHER),
    Mismatch("size", SIZE, TEXT + "and words that the entry does not count\n"),
)

# --- what is asked


@official_scenario(
    "sep-2640-client-no-prefetch",
    "List skills without loading one",
    script=ClientScript(steps=(step("list_skills"),), path=""),
    transports=CLIENTS,
)
async def drive_sep_2640_client_no_prefetch(stage: ClientStage) -> None:
    _offer_skill(stage, TEXT, TEXT)


def _offer_mismatch(mismatch: Mismatch) -> Scenario:
    async def drive(stage: ClientStage) -> None:
        _offer_skill(stage, mismatch.listed, mismatch.text)

    steps = (step("list_skills"), optional(step("load_skill", uri=MANIFEST)))
    return official_scenario(
        mismatch.name,
        f"Load a skill with another {mismatch.part} than its entry",
        script=ClientScript(steps=steps, path="", may_fail=True),
        transports=CLIENTS,
    )(drive)


def _offer_skill(stage: ClientStage, listed: str, text: str) -> None:
    server = stage.server
    server.capabilities |= {"resources": {}, "extensions": {EXTENSION: {}}}
    texts = {**TEXTS, MANIFEST: text}
    files = [
        {"uri": uri, "digest": f"sha256:{sha256(data).hexdigest()}", "size": len(data)}
        for uri, data in ((MANIFEST, listed.encode()), (SUPPORT, TEXTS[SUPPORT].encode()))
    ]
    skill = {"uri": MANIFEST, "frontmatter": ABOUT, "resources": files}

    @server.on("skills/list")
    async def list_skills(cycle: RequestCycle) -> Answer:
        return {"skills": [skill], **server.hints}

    @server.on("skills/get")
    async def get_skill(cycle: RequestCycle) -> Answer:
        if cycle.params.get("uri") != MANIFEST:
            raise AnswerError(INVALID_PARAMS, "no such skill")
        return {"skill": skill, **server.hints}

    @server.on("resources/read")
    async def read(cycle: RequestCycle) -> Answer:
        uri = str(cycle.params.get("uri"))
        if uri not in texts:
            raise AnswerError(cycle.revision.resource_not_found, f"no such resource: {uri}", {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": texts[uri]}]}


SCENARIOS: Final = tuple(map(_offer_mismatch, MISMATCHES))


# --- how it is judged


def _lists(trace: Trace) -> list[Exchange]:
    return [page for page in trace.subject_exchanges("skills/list") if page.result is not None]


def _reads(trace: Trace, *uris: str) -> list[Exchange]:
    return [read for read in trace.subject_exchanges("resources/read") if read.params.get("uri") in uris]


NO_PREFETCH: Final = "sep-2640-host-no-prefetch"


@official_check(
    "sep-2640-client-no-prefetch", "Files of a skill are read on demand", requirements=(NO_PREFETCH,)
)
def judge_sep_2640_client_no_prefetch(trace: Trace) -> Iterator[Observation]:
    reads = _reads(trace, *TEXTS)
    for read in reads:
        expected, observed = "no read of a skill that is not loaded", f"a read of {read.params.get('uri')}"
        yield observe(NO_PREFETCH, False, read, expected=expected, observed=observed)
    for page in _lists(trace) if not reads else ():
        yield observe(NO_PREFETCH, True, page, expected="", observed="")


def _compares(mismatch: Mismatch) -> Check:
    """The client reads the manifest, and no other file after it."""
    requirement = mismatch.requirement

    def judge(trace: Trace) -> Iterator[Observation]:
        manifests, supports = _reads(trace, MANIFEST)[:1], _reads(trace, SUPPORT)[:1]
        for page in _lists(trace)[:1]:
            if not manifests:
                expected, observed = f"a read of {MANIFEST}", "it was listed and never read"
                yield observe(requirement, False, page, expected=expected, observed=observed)
                continue
            expected = f"no use of the skill after another {mismatch.part}"
            observed = f"a read of {SUPPORT}"
            evidence = (*manifests, *supports)
            yield observe(requirement, not supports, *evidence, expected=expected, observed=observed)

    title = f"The {mismatch.part} of a skill is compared with its entry"
    return official_check(mismatch.name, title, requirements=(requirement,))(judge)


CHECKS: Final = tuple(map(_compares, MISMATCHES))


# --- what the checks must catch


@on_received("cuts a file that is too long", breaks=SIZE)
def surplus_cut_off(message: Json, client: ScriptedClient) -> Json:
    contents = message.get("result", {}).get("contents", [{}])
    if contents[0].get("uri") != MANIFEST:
        return message
    cut = {**contents[0], "text": TEXT}
    return within(message, ("result",), lambda result: {**result, "contents": [cut]})


_everywhere = partial(behaviour, transports=EVERY)
BEHAVIOURS: Final = (
    _everywhere(
        "skills.reads-ahead", "reads skills before their use", breaks=NO_PREFETCH, prefetches_skills=True
    ),
    _everywhere("skills.digest-not-compared", "compares no digests", breaks=DIGEST, verifies_digest=False),
    _everywhere(
        "skills.frontmatter-not-compared",
        "does not compare the frontmatter",
        breaks=FRONTMATTER,
        verifies_frontmatter=False,
    ),
)
